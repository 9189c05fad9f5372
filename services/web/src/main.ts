import { mount } from "svelte";

import App from "./app/App.svelte";
import { preferred, setLanguage } from "./i18n/index.svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";

const target = document.getElementById("app");
if (target === null) throw new Error("index.html has no #app");
// In the reader's language from the first word on; in English if that cannot be had.
void setLanguage(preferred(), false)
  .catch(() => undefined)
  .then(() => mount(App, { target }));
