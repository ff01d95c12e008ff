// Bundles src/ with esbuild and writes it as C++ for web_files.h. Run by cmake/web.cmake:
//   node build.mjs --modules FOLDER --out FOLDER
// FOLDER/node_modules has the packages of package-lock.json; OUT gets web_files.cpp, and the files themselves in page/.
import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';

const kMostBytes = 300_000;  // of all files, compressed

const here = dirname(fileURLToPath(import.meta.url));
const option = (name) => process.argv[process.argv.indexOf(name) + 1];
const modules = resolve(option('--modules'), 'node_modules');
const out = option('--out');
const esbuild = createRequire(join(modules, 'any'))('esbuild');

const bundled = async (name, entry, form) => esbuild.build({
  entryPoints: {[name]: join(here, entry)},
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  splitting: form === 'esm',
  metafile: true,
  absWorkingDir: here,  // the paths below it are part of the hashes
  outdir: join(here, 'page'),  // nothing is written there
  bundle: true,
  write: false,
  minify: true,
  format: form,
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  nodePaths: [modules],
  loader: {'.svg': 'text'},
  logLevel: 'warning',
});

const types = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  svg: 'image/svg+xml',
};
const files = [];
const add = (path, type, bytes, immutable) =>
  files.push({path, type, bytes: Buffer.from(bytes), immutable, gzip: gzipSync(bytes, {level: 9})});

const hashed = {};  // "app.js" -> "/app-1a2b3c4d.js"
/// The bundle's files, and of its script the other files that it cannot begin without.
const addBundle = async (name, entry, form) => {
  const {outputFiles, metafile} = await bundled(name, entry, form);
  for (const file of outputFiles) add(file.path.slice(join(here, 'page').length), types[file.path.split('.').pop()], file.contents, true);
  const outputs = Object.entries(metafile.outputs).map(([path, about]) => [path.slice('page'.length), about]);
  const [script, about] = outputs.find(([, its]) => its.entryPoint?.endsWith(entry));
  hashed[`${name}.js`] = script;
  if (about.cssBundle) hashed[`${name}.css`] = about.cssBundle.slice('page'.length);
  return about.imports.filter(({kind}) => kind === 'import-statement').map(({path}) => path.slice('page'.length));
};
const parts = await addBundle('app', 'src/main.tsx', 'esm');
// A file of its own, of 1 kB: it is there long before the page's script, and asks for the first view.
await addBundle('ahead', 'src/ahead.ts', 'iife');
const icon = readFileSync(join(here, 'src/icon.svg'));
hashed['icon.svg'] = `/icon-${createHash('sha256').update(icon).digest('hex').slice(0, 12)}.svg`;
add(hashed['icon.svg'], types.svg, icon, true);
const preloads = parts.map((path) => `<link rel="modulepreload" href="${path}">`).join('\n');
const html = readFileSync(join(here, 'src/index.html'), 'utf8').replace('{{parts}}', preloads).replace(/\{\{([\w.]+)\}\}/g, (_, name) => {
  if (!hashed[name]) throw new Error(`index.html names ${name}, which was not built`);
  return hashed[name];
});
add('/', types.html, html, false);

const compressed = files.reduce((sum, file) => sum + file.gzip.length, 0);
if (compressed > kMostBytes) {
  console.error(`The page has ${compressed} bytes compressed, and may have ${kMostBytes}.`);
  process.exit(1);
}

const array = (name, bytes) => `constexpr std::uint8_t ${name}[] = {${[...bytes].join(',')}};\n`;
let text = '// Written by orchestrator/web/build.mjs.\n#include "orchestrator/web/web_files.h"\n\n' +
  'namespace cupel::web {\nnamespace {\n';
files.forEach((file, i) => text += array(`kBytes${i}`, file.bytes) + array(`kGzip${i}`, file.gzip));
text += 'constexpr File kFiles[] = {\n';
files.forEach((file, i) => text +=
  `    {"${file.path}", "${file.type}", ${file.immutable}, kBytes${i}, kGzip${i}},\n`);
text += '};\n}  // namespace\n\nstd::span<const File> files() { return kFiles; }\n\n}  // namespace cupel::web\n';

mkdirSync(out, {recursive: true});
writeFileSync(join(out, 'web_files.cpp'), text);
const page = join(out, 'page');
rmSync(page, {recursive: true, force: true});
mkdirSync(page);
for (const file of files) writeFileSync(join(page, file.path === '/' ? 'index.html' : file.path), file.bytes);
console.log(`The page: ${files.length} files, ${compressed} bytes compressed.`);
