import { describe, expect, test } from 'vitest';
import { languageChange, languageProfile } from '../../../src/text/language.ts';

const TEXTS = {
  English:
    'The pump must be bled before the heating is used for the first time, because air in the pipes is loud and wastes energy.',
  German:
    'Die Pumpe muss vor dem ersten Heizen entlüftet werden, weil die Luft in den Rohren laut ist und Energie kostet.',
  French:
    'La pompe doit être purgée avant la première utilisation du chauffage, car l’air dans les tuyaux est bruyant et coûte de l’énergie.',
  Spanish:
    'La bomba se debe purgar antes de usar la calefacción por primera vez, porque el aire en los tubos es ruidoso y cuesta energía.',
  Dutch:
    'De pomp moet voor het eerste gebruik van de verwarming worden ontlucht, omdat de lucht in de leidingen luid is en energie kost.',
  Japanese: '暖房を初めて使う前に、ポンプの空気を抜く必要があります。配管の空気は音を立て、エネルギーを無駄にします。',
  Chinese: '首次使用供暖系统之前，必须给水泵排气，因为管道里的空气会产生噪音并且浪费能源，所以请先打开阀门。',
  Arabic: 'يجب تفريغ الهواء من المضخة قبل استخدام التدفئة لأول مرة لأن الهواء في الأنابيب يسبب الضوضاء ويهدر الطاقة.',
  Cyrillic: 'Перед первым включением отопления из насоса нужно выпустить воздух, потому что он шумит и тратит энергию.',
  Hangul: '난방을 처음 사용하기 전에 펌프의 공기를 빼야 합니다. 배관 속의 공기는 소음을 내고 에너지를 낭비합니다.',
};

describe('language', () => {
  test('of a sentence, by script or by its common words', () => {
    for (const [name, text] of Object.entries(TEXTS)) {
      const { script, language } = languageProfile(text);
      expect(language ?? script).toBe(name);
    }
  });

  test('every change between two of them is noticed, no text is a change of itself', () => {
    const texts = Object.values(TEXTS);
    for (const before of texts)
      for (const after of texts) {
        if (before === after) expect(languageChange(before, after)).toBeUndefined();
        else expect(languageChange(before, after), `${before} -> ${after}`).toMatch(/^written in/);
      }
  });

  test('of what is added to a text, only the addition counts', () => {
    expect(languageChange(TEXTS.German, `${TEXTS.German}\n${TEXTS.English}`)).toBe(
      'written in English, the original in German',
    );
    expect(
      languageChange(
        TEXTS.German,
        `Die Frage ist, wie der Nutzer die Pumpe mit dem Ventil entlüftet.\n${TEXTS.German}`,
      ),
    ).toBeUndefined();
    expect(languageChange(TEXTS.Japanese, `${TEXTS.Japanese}\n${TEXTS.English}`)).toBe(
      'written in Latin, the original in Japanese',
    );
  });

  test('says nothing where little is known: short texts, names, code, mixed documents', () => {
    expect(languageChange(TEXTS.German, 'Heizung pump bleed air valve radiator')).toBeUndefined();
    expect(languageChange('', TEXTS.German)).toBeUndefined();
    expect(languageChange('const a = b.map((x) => x + 1); // add one', TEXTS.English)).toBeUndefined();
    expect(languageChange('暖房', TEXTS.English)).toBeUndefined();
    const arabicWithCode = `${TEXTS.Arabic}\n${'docker compose up --detach '.repeat(6)}`;
    expect(languageChange(arabicWithCode, TEXTS.Arabic)).toBeUndefined();
    expect(languageChange(TEXTS.Japanese, '暖房設備空気除去方法配管騒音対策弁開閉手順確認事項')).toBeUndefined();
  });
});
