// Questions that are asked before a decision is sent.

const unsent = document.getElementById("unsent");
let questions = 0;

/** Ask a question in a dialog of the request, with a reason that was typed before, and go on with its field unless it is cancelled. */
export function ask(name, goOn, reason = "") {
  const [dialog, field] = [document.getElementById(name), document.getElementById(`${name}-reason`)];
  if (reason) field.value = reason;
  dialog.returnValue = "";
  dialog.onclose = () => dialog.returnValue && goOn(field);
  dialog.showModal();
}

/** Ask whether to discard what was typed in the editor, and go on if it is. */
export function askDiscard(goOn) {
  const dialog = document.getElementById("discarding");
  dialog.returnValue = "";
  dialog.onclose = () => dialog.returnValue && goOn();
  dialog.showModal();
}

/** Ask what to do with a correction that was typed when another decision is taken: send, discard or edit it. */
export async function askUnsent(action) {
  document.getElementById("unsent-discard").textContent = `Discard it and ${action === "warn" ? "approve with a warning" : action}`;
  const question = ++questions;
  unsent.returnValue = "";
  unsent.showModal();
  await new Promise((resolve) => {
    unsent.addEventListener("close", function closed() {
      // The event of a dialog that was closed comes late: the next question may stand there already.
      if (question === questions && unsent.open) return;
      unsent.removeEventListener("close", closed);
      resolve();
    });
  });
  return question === questions ? unsent.returnValue : "";
}
