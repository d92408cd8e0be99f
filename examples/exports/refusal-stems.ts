/**
 * The beginnings of words that mean a refusal of messages, and nothing else, in a heading as in the name of a file: without
 * accents, in lower case, and with _ where a space may stand.
 */
export const refusalStems = `
  unsub(scri(bed?|ption))? (black|block|deny|stop)_list
  abgemeldet abbestell abmeld ausgetragen widerruf widerspr sperrliste sperrdatei sperrvermerk werbeverweiger
  (kontakt|mail|mailing|newsletter|versand|werbe|werbung)_(sperre|verbot|gesperrt)
  desinscri desabonn dezabon liste_noire lista_ne(g?r)a disiscri descadastr
  afgemeld afmeld uitgeschreven uitschr frameld avmeld avregistr avprenumer avanmal reklam_(blok|sparr)
  markkinointikielto wypisan rezygnac odhlas leiratkoz отпис`
  .trim()
  .split(/\s+/)
  .join("|");
