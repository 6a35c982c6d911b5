// Stands between the search box and the part of the page that is run alone while the reader types:
// takes a text there and keeps the last answer, where the box finds both.

export default function ({ parentElement, data, setTriggerValue }) {
  const post = parentElement.querySelector(".cp-begins");
  post.send = (text) => setTriggerValue("typed", text);
  post.answer = data;
  document.dispatchEvent(new Event("cp-begins"));
}
