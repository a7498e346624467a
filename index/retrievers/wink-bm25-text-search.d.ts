/** The part of wink-bm25-text-search 3.1 that the `wink` driver uses; the package ships no types. */
declare module 'wink-bm25-text-search' {
  export interface Engine {
    defineConfig(config: {
      fldWeights: Record<string, number>;
      bm25Params: { k1: number; b: number; k: number };
    }): boolean;
    definePrepTasks(tasks: readonly ((input: string) => string[])[]): number;
    addDoc(document: Record<string, string>, id: string): number;
    consolidate(decimals: number): boolean;
    search(text: string, limit: number): [id: string, score: number][];
    exportJSON(): string;
    importJSON(json: string): boolean;
  }
  export default function createEngine(): Engine;
}
