import "./style/tokens.css";
import "./style/base.css";
import "./style/run.css";
import "./style/details.css";
import "./style/live.css";
import { render } from "preact";
import { App } from "./live/app";

const page = document.getElementById("page")!;
page.replaceChildren();
render(<App />, page);
