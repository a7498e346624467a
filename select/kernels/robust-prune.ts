/**
 * The edges of one node of a proximity graph (DiskANN, Subramanya et al. 2019, algorithm 2): nearest first, a candidate is
 * dropped when a neighbour that was already taken is closer to it than 1/alpha times the node is.
 */
export function robustPrune(
  node: number,
  candidates: Iterable<number>,
  distance: (a: number, b: number) => number,
  alpha: number,
  degree: number,
): number[] {
  let rest = [...new Set(candidates)]
    .filter((other) => other !== node)
    .map((other) => ({ other, away: distance(node, other) }))
    .sort((a, b) => a.away - b.away || a.other - b.other);
  const edges: number[] = [];
  while (rest.length > 0 && edges.length < degree) {
    const { other: taken } = rest[0];
    edges.push(taken);
    rest = rest.filter(({ other, away }) => other !== taken && alpha * distance(taken, other) > away);
  }
  return edges;
}
