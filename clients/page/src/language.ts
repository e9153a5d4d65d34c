// The reader's language, and numbers in it.

/** The language in use, as the reader writes it: the browser's `en-GB` for `en`. */
export let language = "en";

/** Write numbers and dates in a language from now on. */
export function write(tag: string): void {
  language = tag;
}

/** A sentence for one and one for any other number, which stands where the `#` is. */
export const plural = (one: string, other: string) => (n: number) => (n === 1 ? one : other).replace("#", n.toLocaleString(language));

/** A name within a sentence: whichever way it is written, it turns nothing around it. */
export const named = (name: string) => `\u2068${name}\u2069`;
