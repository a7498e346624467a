import type { morphDoctorSchema } from '../../src/config/schemas/study.ts';

/** What all studies are told about what they study. */
export type SubjectOptions = Omit<typeof morphDoctorSchema._zod.output, 'queries'> & { readonly queries?: number };
