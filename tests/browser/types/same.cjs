// Prints each file whose second form is another program: node same.cjs TYPESCRIPT-FOLDER FILE SECOND-FORM ...
const fs = require("fs");
const ts = require(require("path").join(process.argv[2], "lib", "typescript.js"));

/** The tagged template that a token is a part of; htm trims the white space at line ends of its templates. */
function templateOf(token) {
  let node = token.parent;
  if (node && ts.isTemplateSpan(node)) node = node.parent;
  if (node && ts.isTemplateExpression(node)) node = node.parent;
  return node && ts.isTaggedTemplateExpression(node) && node.tag.getText() === "html" ? node : null;
}

function tokensOf(file) {
  const source = ts.createSourceFile(file, fs.readFileSync(file, "utf8"), ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const tokens = [];
  const visit = node => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return;
    const children = node.getChildren(source);
    if (children.length) children.forEach(visit);
    else tokens.push(templateOf(node) ? node.getText(source).replace(/\s*\n\s*/gu, "\n") : node.getText(source));
  };
  visit(source);
  return tokens.join("\u0000");
}

const files = process.argv.slice(3);
for (let n = 0; n < files.length; n += 2) if (tokensOf(files[n]) !== tokensOf(files[n + 1])) console.log(files[n]);
