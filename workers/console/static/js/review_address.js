// The address of the review page names the request that is shown; filters stay in it.

const PAGE = "/review";

/** The request that the address names, or nothing. */
export const reviewOfAddress = () => decodeURIComponent(location.pathname.slice(PAGE.length + 1));

/** Name a request in the address; a step back leads to the request before. */
export function showAddress(review) {
  if (review === reviewOfAddress()) return;
  const address = (review ? `${PAGE}/${encodeURIComponent(review)}` : PAGE) + location.search;
  // The page without a request is no place to go back to: it would lead forward again.
  if (reviewOfAddress()) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
