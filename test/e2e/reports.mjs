// Reads the JUnit XML report of `clawai policy test` as Jenkins does: by libxml2, against its
// schema.
//
//   node reports.mjs report.xml schema.xsd
import { readFileSync } from "node:fs";
import xmllint from "xmllint-wasm";

const [xmlFile, schemaFile] = process.argv.slice(2);

const xml = await xmllint.validateXML({
  xml: [{ fileName: "report.xml", contents: readFileSync(xmlFile, "utf8") }],
  schema: [readFileSync(schemaFile, "utf8")],
});
console.log(JSON.stringify({ xml: { valid: xml.valid, errors: xml.errors.map((e) => e.message) } }));
