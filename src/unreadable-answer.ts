/**
 * An answer lacks what its reader needs. A leaf: it knows neither status nor request, so the transport turns it into
 * an `UnexpectedResponseError` that holds both, and the body. The message ends the sentence "200 on GET …, but".
 */
export class UnreadableAnswer extends Error {
  override readonly name = "UnreadableAnswer";
}
