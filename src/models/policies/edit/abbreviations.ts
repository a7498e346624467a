/** What programmers shorten, and the words they mean. Keys are lower-case identifier parts. */
const ABBREVIATIONS: Readonly<Record<string, string>> = table(`
acc accumulator · addr address · agg aggregate · alg algorithm · algo algorithm · alloc allocate · alnum alphanumeric ·
amt amount · ang angle · approx approximate · arg argument · args arguments · argv arguments · arr array · arrs arrays ·
asc ascending · assoc associative · attr attribute · attrs attributes · auth authentication · avg average · bal balance ·
bg background · bin binary · bool boolean · btn button · buf buffer · buff buffer · cal calculate · calc calculate ·
cap capacity · cat category · cb callback · cfg configuration · ch character · char character ·
chars characters · chk check · chr character · chrs characters · cls class · cmd command · cmp compare · cnt count ·
coeff coefficient · coef coefficient · col column · cols columns · coll collection · comb combination · cond condition ·
conf configuration · config configuration · conn connection · const constant · conv convert · coord coordinate ·
coords coordinates · cos cosine · cp copy · crc checksum · ctx context · cur current · curr current · dec decimal ·
decl declaration · def definition · deg degree · del delete · deps dependencies · desc description descending ·
dest destination · dev deviation · df dataframe · diam diameter · dic dictionary · dict dictionary · dicts dictionaries ·
diff difference · dim dimension · dims dimensions · dir directory · dirs directories · dist distance · div divide ·
doc document · docs documents · dst destination · dt date · dup duplicate · dups duplicates · el element · ele element ·
elem element · elems elements · eles elements · elt element · elts elements · enc encode · env environment · eq equal ·
err error · errs errors · eval evaluate · evt event · ex example · exc exception · exec execute · exp exponent ·
expr expression · ext extension · fact factorial · fib fibonacci · fig figure · fmt format · fname filename ·
fp file · freq frequency · freqs frequencies · fs filesystem · gen generate ·
geo geometric · hcf highest common factor · hex hexadecimal · hyp hypotenuse · idx index · idxs indexes · img image ·
imgs images · impl implementation · inc increment · incl include · ind index · inds indices · info information ·
init initialize · ins insert · inst instance · int integer · ints integers · inv inverse · iter iterate · len length ·
lang language · lat latitude · lcm least common multiple · lev level · lex lexicographic · lib library · lim limit ·
lis longest increasing subsequence · lcs longest common subsequence · ln line · lng longitude · lon longitude ·
loc location · lst list · lsts lists · mat matrix · max maximum · maxi maximum · mem memory · mgr manager ·
mid middle · min minimum · mini minimum · misc miscellaneous · mod modulo · msg message · msgs messages · mul multiply ·
mult multiply · neg negative · nbr neighbor · neighbour neighbor · nums numbers · num number · numb number ·
obj object · objs objects · occ occurrence · oct octal · op operation · ops operations · opt option · opts options ·
ord order · orig original · os system · param parameter · params parameters · pct percent · perc percent · perim perimeter ·
perm permutation · perms permutations · phi angle · pkg package · pos position positive · pow power · pred predicate ·
prev previous · proc process · prod product · prop property · props properties · pt point · pts points ·
ptr pointer · qty quantity · quad quadratic · quot quotient · rad radius · rand random · rec recursive · rect rectangle ·
recv receive · ref reference · refs references · reg register · regex regular expression · regexp regular expression ·
rem remainder remove · rep repeat · repl replace · req request · reqs requests · res result · resp response · ret return ·
rev reverse · rhs right · lhs left · rot rotate · sched schedule · sec second · seq sequence · seqs sequences ·
sess session · sin sine · sp space · spec specification · sq square · sqr square · sqrt square root · src source ·
stat statistic · stats statistics · std standard deviation · stdev standard deviation · stmt statement · str string ·
strs strings · strng string · strr string · sub subtract · subseq subsequence · substr substring · surf surface · svc service · sym symbol · sync synchronize · sys system · tab table · tan tangent · temp temporary ·
tmp temporary · tmpl template · tok token · toks tokens · tot total · tri triangle · trig trigonometric · tup tuple ·
tups tuples · txt text · typ type · uniq unique · upd update ·
usr user · util utility · utils utilities · val value · vals values · var variable · vars variables · vec vector ·
ver version · vol volume · warn warning · wd word · wt weight · yr year · async asynchronous ·
asin arc sine · acos arc cosine · atan arc tangent · ceil ceiling · concat concatenate · gcd greatest common divisor ·
hypot hypotenuse · isnan not a number · mkdir make directory · rmdir remove directory · cwd current working directory ·
pid process identifier · uid user identifier · id identifier · ids identifiers · url address · uri address · db database ·
sql database · csv comma separated · tsv tab separated · np numpy array · pd pandas dataframe · plt plot · ax axis ·
re regular expression · ms milliseconds · tz timezone · utc timezone · ts timestamp ·
ascii character code · utf unicode · b64 base64 · md5 hash · sha hash · rgb color · argmax maximum index ·
argmin minimum index · stdin standard input · stdout standard output · stderr standard error · popen process
`);

/** What a part of an identifier is short for; a number at its end is no obstacle: arr2. */
export function expansions(part: string): readonly string[] {
  const expansion = ABBREVIATIONS[part] ?? ABBREVIATIONS[part.replace(/\d+$/, '')];
  return expansion === undefined ? [] : expansion.split(' ');
}

function table(text: string): Record<string, string> {
  const rows: [string, string][] = [];
  for (const entry of text.split('·')) {
    const [key, ...words] = entry.trim().split(/\s+/);
    rows.push([key, words.join(' ')]);
  }
  // Null prototype: 'constructor' is an identifier too.
  return Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(rows));
}
