// Prints each function that is longer than a number of lines: node functions.cjs TYPESCRIPT LIMIT FILE...
const { readFileSync } = require("node:fs");
const ts = require(process.argv[2]);
const limit = Number(process.argv[3]);
for (const file of process.argv.slice(4)) {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const line = position => source.getLineAndCharacterOfPosition(position).line;
  const visit = node => {
    if (ts.isFunctionLike(node)) {
      const lines = line(node.end) - line(node.getStart()) + 1;
      if (lines > limit) console.log(`${file}:${line(node.getStart()) + 1}: ${node.name ? node.name.text : "a function"} has ${lines} lines`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}
