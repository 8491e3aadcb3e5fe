// Builds each page into one HTML file: script and style go inline, nothing is fetched when it is viewed.
import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

const placeholder = "/*RADDLE_DATA*/";

/** Puts the built script and style into the page. */
function inlineEverything() {
  return {
    name: "inline-everything",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = Object.values(bundle).find((part) => part.fileName.endsWith(".html"));
      let html = String(page.source);
      for (const [file, part] of Object.entries(bundle)) {
        if (part === page) continue;
        const name = file.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
        if (part.type === "chunk") {
          const code = part.code.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
          html = html.replace(new RegExp(`<script[^>]*src="[^"]*${name}"[^>]*></script>`), "");
          html = html.replace("</body>", () => `<script type="module">${code}</script>\n</body>`);
        } else {
          html = html.replace(new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`),
                              () => `<style>${part.source}</style>`);
        }
        delete bundle[file];
      }
      const places = html.split(placeholder).length - 1;
      if (places !== 1) this.error(`the page has ${places} places for the data, expected one`);
      if (/(src|href)="[^#d]/.test(html)) this.error("the page refers to another file");
      page.source = html;
    },
  };
}

/** `RADDLE_DATA=file.json npm run dev` shows that data while the page is being worked on. */
function dataWhileDeveloping() {
  return {
    name: "data-while-developing",
    apply: "serve",
    transformIndexHtml(html) {
      const file = process.env.RADDLE_DATA;
      if (!file) return html;
      return html.replace(placeholder, () => readFileSync(file, "utf8").replace(/</g, "\\u003c"));
    },
  };
}

/** Of one page: pages that were built together would share a file. */
export function configOf(page) {
  return {
    plugins: [inlineEverything(), dataWhileDeveloping()],
    build: { target: "es2021", modulePreload: false, cssCodeSplit: false, assetsInlineLimit: 1e8, emptyOutDir: false,
             chunkSizeWarningLimit: 800, rollupOptions: { input: `${page}.html` } },
  };
}

export default defineConfig(configOf("index"));
