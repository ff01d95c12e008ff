#include "orchestrator/report/html_text.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cupel::report {

const std::string_view kStyle = R"css(
:root{color-scheme:light dark;--ink:#1d2329;--dim:#5c6670;--line:#d5dae0;--paper:#fff;--soft:#f4f6f8;
--pass:#1a7f4b;--fail:#c0342b;--inconclusive:#8f6000;--slot:#e9edf1}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e6e9ec;--dim:#9aa5af;--line:#39424b;
--paper:#14181c;--soft:#1c2227;--pass:#46b97b;--fail:#f2736a;--inconclusive:#d9a440;--slot:#252c33}
.rack a text{fill:#10151a}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1360px;margin:0 auto;padding:28px 20px 60px}h1{font-size:26px;margin:0 0 4px}
h2{font-size:18px;margin:34px 0 10px}p{margin:4px 0}.dim{color:var(--dim)}a{color:inherit}
.tally{display:flex;gap:12px;margin:18px 0;flex-wrap:wrap}
.tally div{border:1px solid var(--line);border-radius:8px;padding:10px 18px;min-width:120px}
.tally b{display:block;font-size:28px;line-height:1.2}
.pass{color:var(--pass)}.fail{color:var(--fail)}.inconclusive{color:var(--inconclusive)}
.rehearsal{border:3px solid var(--fail);color:var(--fail);padding:8px 14px;font-weight:700}
.watermark::before{content:attr(data-text)}.watermark{position:fixed;inset:0;display:flex;align-items:center;justify-content:center;
font-size:14vw;font-weight:800;color:var(--fail);opacity:.09;pointer-events:none}
.racks{display:flex;gap:28px;flex-wrap:wrap;overflow-x:auto}.rack text{font:12px system-ui,sans-serif}
.rack .name{font-weight:600}.rack rect.frame{fill:none;stroke:var(--line);stroke-width:2}
.rack rect.free{fill:var(--slot)}.rack a rect{stroke:var(--paper);stroke-width:2}
.rack rect.pass{fill:var(--pass)}.rack rect.fail{fill:var(--fail)}.rack rect.inconclusive{fill:var(--inconclusive)}
.rack a text{fill:#fff}.rack .why{font-size:13px;fill:var(--ink)}.rack .low{font-size:11px}.rack .unit,.rack .name{fill:var(--dim)}
table{border-collapse:collapse;width:100%;font-size:14px;table-layout:fixed}
th,td{text-align:left;padding:5px 8px;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:anywhere}thead th,.facts th{color:var(--dim);font-weight:600}
.fold{border:1px solid var(--line);border-radius:8px;margin:10px 0;background:var(--soft)}
.fold>input{position:absolute;opacity:0;pointer-events:none}
.fold>label{display:block;cursor:pointer;padding:10px 14px;font-weight:600}
.fold>label::before{content:"\25b8\a0"}.fold>input:checked+label::before{content:"\25be\a0"}
.fold>input:focus-visible+label{outline:2px solid var(--ink);border-radius:8px}
.fold>div{padding:0 14px 14px;overflow-x:auto}
code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}ul{margin:6px 0;padding-left:20px}
.contents{border:1px solid var(--line);border-radius:8px;padding:10px 16px;background:var(--soft);margin:18px 0}
.contents ul{list-style:none;padding:0;margin:8px 0 0;display:flex;flex-wrap:wrap;gap:2px 16px}
.contents .names{flex-basis:100%;max-height:7.5em;overflow:auto}.contents input{font:inherit;padding:4px 10px;min-width:260px;
background:var(--paper);color:var(--ink);border:1px solid var(--line);border-radius:6px}.contents output{margin-left:10px;color:var(--dim)}
.wide{overflow-x:auto}svg.time{max-width:100%;min-width:700px;height:auto;display:block}svg text{font:11px system-ui,sans-serif;fill:var(--ink)}
svg .unit{fill:var(--dim)}.time rect.pass{opacity:.5}.time text.on-pass,.time text.on-fail{font-size:10px}svg text.on-fail{fill:var(--paper)}svg rect.pass,svg circle.pass,svg text.pass{fill:var(--pass)}svg rect.fail,svg circle.fail,svg text.fail{fill:var(--fail)}
svg text.inconclusive{fill:var(--inconclusive)}svg .grid{stroke:var(--line);fill:none}svg .drawn{fill:var(--pass);fill-opacity:.15;stroke:var(--pass);stroke-width:1.3}
svg .limit{stroke:var(--fail);stroke-dasharray:5 3;fill:none}.dist{width:100%;height:36px;display:block}.dist .fleet,.key .fleet{stroke:var(--dim);opacity:.55;fill:none}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:2px 18px;font-size:14px}.legend svg{vertical-align:middle;margin-right:6px}
.sn i{font:13px ui-monospace,monospace}
.heats{display:flex;flex-wrap:wrap;gap:18px}.heat{width:auto;table-layout:auto;font-size:12px;min-width:0!important}.heat caption{text-align:left;color:var(--dim)}
.heat th,.heat td{padding:2px 6px;text-align:center;border:1px solid var(--paper)}
.h0{background:#9ec5e833}.h1{background:#7fb2df66}.h2{background:#5d9bd277}.h3{background:#3f86c488}.h4{background:#2b74b699}.low{color:var(--fail);font-weight:700}
.teles{display:flex;flex-wrap:wrap;gap:14px}figure{margin:0;width:300px}figcaption{font-size:12px;color:var(--dim)}.tele{width:300px;height:78px;display:block;border-bottom:1px solid var(--line)}
.tele .own{fill:none;stroke:var(--fail);stroke-width:1.4}.tele .mark{stroke:var(--fail);stroke-width:1;stroke-dasharray:3 3}.tele .band{fill:var(--dim);opacity:.28}h3{font-size:14px;margin:12px 0 4px}.hidden{display:none}
.sign tbody td,.sign tbody th{height:64px;vertical-align:bottom}
@media screen and (max-width:800px){main{min-width:760px}}
@media screen{.fold>input:not(:checked)~div{display:none}.fold table{min-width:820px}}
@media print{.racks svg{max-width:100%;height:auto}.contents label,.contents output{display:none}.contents .names{max-height:none}.hidden{display:block!important}tr.hidden{display:table-row!important}@page{margin:12mm 10mm}body{font-size:11px;print-color-adjust:exact;
-webkit-print-color-adjust:exact}main{max-width:none;padding:0}table,.legend{font-size:9px}
code,.sn i{font-size:8px}th,td{padding:2px 4px}
h1,h2,.fold>label{break-after:avoid}tr,svg,.sign,.tally{break-inside:avoid}
thead{display:table-header-group}.fold{border:0;background:none;margin:6px 0}
.fold>label{padding:6px 0}.fold>label::before{content:""!important}.fold>div{padding:0;overflow:visible}
.fold>input{display:none}}
)css";

const std::string_view kScript = R"js(
const box=document.getElementById('search'),found=document.getElementById('found');let timer=0;
const nodes=[...document.querySelectorAll('section.node')].map(s=>({s,text:s.textContent.toLowerCase()}));
function seek(){const wanted=box.value.trim().toLowerCase();let count=0;
for(const {s,text} of nodes){const has=!wanted||text.includes(wanted);s.classList.toggle('hidden',!has);if(has)count++;
for(const fold of s.querySelectorAll('.fold')){const rows=[...fold.querySelectorAll('tbody tr')];
const hit=wanted!==''&&has&&!s.id.toLowerCase().includes(wanted)&&rows.some(r=>r.textContent.toLowerCase().includes(wanted));
fold.querySelector('input').checked=hit;
for(const r of rows)r.classList.toggle('hidden',hit&&!r.textContent.toLowerCase().includes(wanted))}}
found.textContent=wanted?count+' of '+nodes.length+' nodes':''}
box.addEventListener('input',()=>{clearTimeout(timer);timer=setTimeout(seek,150)});
box.addEventListener('change',seek);
)js";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string broken_at_commas(std::string_view text) {
  std::string broken;
  for (const char c : escaped(text)) {
    broken += c;
    if (c == ',') broken += "<wbr>";
  }
  return broken;
}

std::string table_begin(std::initializer_list<Column> columns) {
  std::string widths, titles;
  for (const auto& column : columns) {
    widths += fmt::format("<col style=\"width:{}%\">", column.percent);
    titles += fmt::format("<th>{}", column.title);
  }
  return fmt::format("<table><colgroup>{}</colgroup><thead><tr>{}</tr></thead><tbody>", widths,
                     titles);
}

std::string folded(std::string_view id, std::string_view title, std::string_view body) {
  return fmt::format(
      "<div class=fold><input type=checkbox id=\"{0}\"><label for=\"{0}\">{1}</label><div>{2}</div>"
      "</div>",
      escaped(id), title, body);
}

}  // namespace cupel::report
