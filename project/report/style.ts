/** The page's own style and its one script. Both are constants: the content security policy names their hashes, so nothing else runs. */

export const STYLE = `
:root{color-scheme:light dark;--ink:#1c2024;--soft:#5b6570;--line:#dfe3e8;--page:#fff;--panel:#f6f7f9;--good:#0a7d4b;--bad:#c22f2f;
--add:#d9f2e3;--del:#fbdede;--s1:#7b8794;--s2:#d98a1f;--s3:#1f6feb;--s4:#c0307a}
@media(prefers-color-scheme:dark){:root{--ink:#e7eaee;--soft:#9aa5b1;--line:#2c333b;--page:#12161b;--panel:#1a2027;--good:#4cc38a;--bad:#ff8080;
--add:#12402a;--del:#4d1f22;--s1:#93a1b0;--s2:#f0a94a;--s3:#6ea8fe;--s4:#f472b6}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:980px;margin:0 auto;padding:28px 20px 72px}
header p.over{margin:0;color:var(--soft);font-size:.85rem;letter-spacing:.04em;text-transform:uppercase}
h1{margin:.1em 0 .6em;font-size:1.7rem;line-height:1.2;overflow-wrap:anywhere}
h2{margin:2.6em 0 .7em;font-size:1.2rem}
h3{margin:1.8em 0 .5em;font-size:1rem}
p,ul{margin:.5em 0}
.verdict{border-left:5px solid var(--soft);background:var(--panel);border-radius:0 8px 8px 0;padding:14px 18px;font-size:1.12rem}
.verdict.better{border-color:var(--good)}.verdict.worse{border-color:var(--bad)}
.note{color:var(--soft);font-size:.92rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;margin:1.2em 0;font-size:.94rem}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
.tall .scroll{max-height:560px;overflow:auto}.tall thead th{position:sticky;top:0;background:var(--page)}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{padding:7px 12px 7px 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{color:var(--soft);font-weight:600;white-space:nowrap}
td.n,th.n{text-align:right;white-space:nowrap}
td.q{min-width:200px;overflow-wrap:anywhere}
tr.main td{font-weight:650}
th button{all:unset;cursor:pointer;color:inherit;font:inherit}
th button:focus-visible{outline:2px solid var(--s3);outline-offset:2px}
th[aria-sort=ascending] button::after{content:" \\2191"}th[aria-sort=descending] button::after{content:" \\2193"}
.good{color:var(--good);fill:var(--good)}.bad{color:var(--bad);fill:var(--bad)}
figure{margin:1em 0;background:var(--panel);border-radius:10px;padding:14px 14px 10px}
figcaption{font-size:.9rem;color:var(--soft);margin-bottom:6px}
figure svg{display:block;width:100%;height:auto}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:0 18px}
.tick{fill:var(--soft);font-size:12px}.grid{stroke:var(--line);fill:none}
.line{fill:none;stroke-width:2;stroke-linejoin:round}.move{stroke:var(--soft);stroke-opacity:.35;fill:none}
path.s1{stroke:var(--s1)}path.s2{stroke:var(--s2)}path.s3{stroke:var(--s3)}path.s4{stroke:var(--s4)}
circle.s1,rect.s1{fill:var(--s1)}circle.s2,rect.s2{fill:var(--s2)}circle.s3,rect.s3{fill:var(--s3)}circle.s4,rect.s4,path.s4:not(.line){fill:var(--s4)}
circle{fill-opacity:.75}
.legend{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:.85rem;color:var(--soft);margin-top:6px}
.legend i{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:6px}
i.s1{background:var(--s1)}i.s2{background:var(--s2)}i.s3{background:var(--s3)}i.s4{background:var(--s4)}
svg.interval{width:120px;height:16px;vertical-align:middle}.interval .axis{stroke:var(--soft)}.interval .range{stroke:var(--ink);stroke-width:2}
details{border:1px solid var(--line);border-radius:10px;margin:10px 0;padding:0 14px}
summary{cursor:pointer;padding:10px 0;overflow-wrap:anywhere}
details[open] summary{border-bottom:1px solid var(--line)}
.diff{white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.6 ui-monospace,SFMono-Regular,Menlo,monospace;max-height:420px;overflow-y:auto;padding:10px 0;margin:0}
ins{background:var(--add);text-decoration:none}del{background:var(--del)}
.gap{color:var(--soft)}
code{font:.88em ui-monospace,SFMono-Regular,Menlo,monospace;overflow-wrap:anywhere}
footer{margin-top:4em;color:var(--soft);font-size:.85rem}
@media(max-width:520px){main{padding:20px 14px 60px}h1{font-size:1.4rem}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:8px}}
@media print{details{break-inside:avoid}.diff{max-height:none}}
`;

/** Sorts a table by a column when its head is pressed. Reads data-v, which the page wrote as numbers; never writes markup. */
export const SCRIPT = `
for(const table of document.querySelectorAll('table.sort')){const heads=[...table.tHead.rows[0].cells];heads.forEach((head,column)=>{
const button=head.querySelector('button');if(!button)return;button.addEventListener('click',()=>{
const up=head.getAttribute('aria-sort')!=='ascending';for(const other of heads)other.removeAttribute('aria-sort');
head.setAttribute('aria-sort',up?'ascending':'descending');
const value=row=>{const cell=row.cells[column];return cell.dataset.v===undefined?cell.textContent:Number(cell.dataset.v)};
const rows=[...table.tBodies[0].rows];rows.sort((a,b)=>{const x=value(a),y=value(b);return(x<y?-1:x>y?1:0)*(up?1:-1)});
table.tBodies[0].append(...rows)})})}
`;
