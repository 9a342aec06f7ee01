// node check_diagram.js CODE DATA: runs the script of a page on its data, with all scopes closed and with all open, and
// tells what does not hold, as JSON.
const fs = require("fs"), vm = require("vm");
const [code, data] = [process.argv[2], JSON.parse(fs.readFileSync(process.argv[3], "utf-8"))];
vm.runInThisContext(fs.readFileSync(code, "utf-8"));
const { flowOrder, buildTree, layout, leaves } = globalThis.tf1sessionsDiagram;
const rank = flowOrder(data), problems = [];
let back = 0, most = 0, deepest = 0, edges = 0, drawn = 0;

function check(isOpen) {
  const root = buildTree(data, () => true, rank);
  const { paths } = layout(data, root, isOpen, true);
  if (leaves(root).length !== data.names.length || paths.size !== data.names.length) problems.push("nodes are missing");
  (function look(scope, depth) {
    deepest = Math.max(deepest, depth);
    most = Math.max(most, scope.children.length);
    const boxes = scope.children;
    for (const box of boxes) {
      drawn++;
      if (![box.x, box.y, box.w, box.h].every(Number.isFinite)) problems.push("no place: " + box.key);
      if (box.x < -1e-6 || box.y < -1e-6 || box.x + box.w > scope.w || box.y + box.h > scope.h)
        problems.push("outside: " + box.key);
      if (box.parent !== scope) problems.push("wrong parent: " + box.key);
    }
    for (let i = 0; i < boxes.length; i++)
      for (let j = 0; j < i; j++) {
        const [a, b] = [boxes[i], boxes[j]];
        if (a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)
          problems.push("overlap: " + a.key + " " + b.key);
      }
    for (const route of scope.routes) {
      edges++;
      back += route.back;
      const ends = route.points, { from, to } = route.edge, [top, bottom] = route.back ? [to, from] : [from, to];
      const starts = ends[0][1] - top.y - top.h, stops = ends[ends.length - 1][1] - bottom.y;
      if (Math.abs(starts) > 1e-6 || Math.abs(stops) > 1e-6) problems.push("loose end");
      for (let k = 1; k < ends.length; k++) if (ends[k][1] < ends[k - 1][1] - 1e-6) problems.push("goes up");
    }
    for (const box of boxes) if (box.open) look(box, depth + 1);
  })(root, 1);
}
check(() => false);
const closed = drawn;
check(() => true);
console.log(JSON.stringify({ problems: problems.slice(0, 5), back, most, deepest, edges, closed, nodes: data.names.length }));
