/**
 * Greedy search of a proximity graph (DiskANN, algorithm 1): from `entry`, expand the closest node of the list that was not
 * expanded, keep the `width` closest seen. Answers the expanded nodes in their order.
 */
export function beamSearch(
  graph: readonly (readonly number[] | Int32Array)[],
  entry: number,
  distanceTo: (node: number) => number,
  width: number,
): number[] {
  const list = [{ node: entry, away: distanceTo(entry), expanded: false }];
  const seen = new Set([entry]);
  const expanded: number[] = [];
  for (;;) {
    const next = list.find((item) => !item.expanded);
    if (next === undefined) return expanded;
    next.expanded = true;
    expanded.push(next.node);
    for (const node of graph[next.node]) {
      if (seen.has(node)) continue;
      seen.add(node);
      const away = distanceTo(node);
      if (list.length >= width && away >= list[list.length - 1].away) continue;
      let at = list.length;
      while (at > 0 && list[at - 1].away > away) at--;
      list.splice(at, 0, { node, away, expanded: false });
      if (list.length > width) list.pop();
    }
  }
}
