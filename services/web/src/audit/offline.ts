/** The audit page as one file: no server, no other page, nothing sent. `vite.config.ts` packs it into `audit-offline.html`. */
import { mount } from "svelte";

import "../styles/tokens.css";
import "../styles/base.css";
import OfflinePage from "./OfflinePage.svelte";

const target = document.getElementById("app");
if (target === null) throw new Error("the page has no #app");
mount(OfflinePage, { target });
