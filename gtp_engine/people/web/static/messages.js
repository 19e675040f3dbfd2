// Notes and errors of the server in the reader's language: those that records and files of a person often cause.

let known = {}; // by their English, with names in braces

/** Take the notes and errors of a language. */
export function learn(messages) {
  known = messages;
}

/** Return a note or an error in the reader's language, if it is one of these, and so its parts. */
export function messageText(message) {
  for (const [template, translated] of Object.entries(known)) {
    const pattern = template.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>.+?)");
    const found = message.match(new RegExp(`^${pattern}$`));
    if (found) return translated.replace(/\{(\w+)\}/g, (name, key) => (key in found.groups ? messageText(found.groups[key]) : name));
  }
  return message;
}
