// A headless Chromium driven over its DevTools pipe, with nothing but Node: one page, its errors, its pictures.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const kFlags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--hide-scrollbars"];
const kPatience = 60_000;

/** Messages are JSON texts that end with a zero byte; requests carry numbers, answers repeat them. */
class Connection {
  #next = 1;
  #waiting = new Map();
  #listeners = [];
  #text = "";

  constructor(child) {
    this.out = child.stdio[3];
    child.stdio[4].setEncoding("utf8").on("data", (part) => this.#take(part));
    child.on("exit", (code) => this.#fail(new Error(`Chromium ended with ${code}`)));
    child.on("error", (error) => this.#fail(error));
  }
  #fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
  #take(part) {
    const messages = (this.#text + part).split("\0");
    this.#text = messages.pop();
    for (const text of messages) {
      const message = JSON.parse(text);
      const request = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (request === undefined) for (const listener of this.#listeners) listener(message);
      else if (message.error) request.reject(new Error(`${request.method}: ${message.error.message}`));
      else request.resolve(message.result);
    }
  }
  listen(listener) {
    this.#listeners.push(listener);
  }
  send(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    this.out.write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method} was not answered`)), kPatience);
      const done = (how) => (value) => { clearTimeout(late); how(value); };
      this.#waiting.set(id, { method, resolve: done(resolve), reject: done(reject) });
    });
  }
}

/** What went wrong on the page, as text; null for other messages. */
function complaint({ method, params }) {
  if (method === "Runtime.exceptionThrown") return params.exceptionDetails.exception?.description ?? params.exceptionDetails.text;
  if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type))
    return `console.${params.type}: ${params.args.map((a) => a.value ?? a.description).join(" ")}`;
  if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) return `${params.entry.level}: ${params.entry.text}`;
  if (method === "Network.requestWillBeSent" && !/^(file|data|blob):/.test(params.request.url)) return `fetches ${params.request.url}`;
  return null;
}

/** Calls use(page) with a fresh browser and ends it afterwards. */
export async function withPage(use) {
  const profile = mkdtempSync(join(tmpdir(), "raddle-chromium-"));
  const child = spawn(process.env.CHROMIUM ?? "chromium", [...kFlags, `--user-data-dir=${profile}`, "about:blank"],
                      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const connection = new Connection(child);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    const { targetId } = await connection.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await connection.send("Target.attachToTarget", { targetId, flatten: true });
    const send = (method, params) => connection.send(method, params, sessionId);
    const complaints = [];
    connection.listen((message) => {
      const text = message.sessionId === sessionId ? complaint(message) : null;
      if (text !== null) complaints.push(text);
    });
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`);
    return await use(page(send, complaints));
  } finally {
    await connection.send("Browser.close").catch(() => child.kill("SIGKILL"));
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

function page(send, complaints) {
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const picture = async (options) => Buffer.from((await send("Page.captureScreenshot", options)).data, "base64");
  return {
    complaints,
    evaluate,
    async window(width, height, dark) {
      await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
      await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    },
    async open(url) {
      await send("Page.navigate", { url });
      for (const end = Date.now() + kPatience; ;) {
        if (await evaluate("document.documentElement.dataset.ready === 'true'").catch(() => false)) return;
        if (Date.now() > end) throw new Error(`the page did not become ready; it said: ${complaints.join("; ") || "nothing"}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    move: (x, y) => send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y }),
    screen: () => picture({ format: "png" }),
    whole: () => picture({ format: "png", captureBeyondViewport: true }),
    async pdf() {
      return Buffer.from((await send("Page.printToPDF", { printBackground: true, preferCSSPageSize: true })).data, "base64");
    },
  };
}
