import { mount } from "svelte";

import App from "./app/App.svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";

const target = document.getElementById("app");
if (target === null) throw new Error("index.html has no #app");
mount(App, { target });
