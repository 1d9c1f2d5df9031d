// Reads the reports of `clawai policy test` as CI systems do: TAP by node-tap's
// parser, JUnit XML by libxml2 against the schema of Jenkins.
//
//   node reports.mjs report.tap report.xml schema.xsd
import { readFileSync } from "node:fs";
import { Parser } from "tap-parser";
import xmllint from "xmllint-wasm";

const [tapFile, xmlFile, schemaFile] = process.argv.slice(2);

const tap = await new Promise((done) => {
  const points = [];
  const parser = new Parser({ strict: true }, (results) => done({ results, points }));
  parser.on("assert", (a) => points.push({ ok: a.ok, name: a.name, skip: a.skip, diag: a.diag }));
  parser.end(readFileSync(tapFile, "utf8"));
});
const xml = await xmllint.validateXML({
  xml: [{ fileName: "report.xml", contents: readFileSync(xmlFile, "utf8") }],
  schema: [readFileSync(schemaFile, "utf8")],
});
console.log(JSON.stringify({
  tap: { count: tap.results.count, pass: tap.results.pass, fail: tap.results.fail, skip: tap.results.skip,
    broken: tap.results.failures.filter((f) => f.tapError).map((f) => f.tapError), points: tap.points },
  xml: { valid: xml.valid, errors: xml.errors.map((e) => e.message) },
}));
