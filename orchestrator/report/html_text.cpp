#include "orchestrator/report/html_text.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cupel::report {

const std::string_view kStyle = R"css(
:root{color-scheme:light dark;--ink:#1d2329;--dim:#5c6670;--line:#d5dae0;--paper:#fff;--soft:#f4f6f8;
--pass:#1a7f4b;--fail:#c0342b;--inconclusive:#9a6700;--slot:#e9edf1}
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
.watermark{position:fixed;inset:0;display:flex;align-items:center;justify-content:center;
font-size:14vw;font-weight:800;color:var(--fail);opacity:.09;pointer-events:none}
.racks{display:flex;gap:28px;flex-wrap:wrap}.rack text{font:12px system-ui,sans-serif}
.rack .name{font-weight:600}.rack rect.frame{fill:none;stroke:var(--line);stroke-width:2}
.rack rect.free{fill:var(--slot)}.rack a rect{stroke:var(--paper);stroke-width:2}
.rack rect.pass{fill:var(--pass)}.rack rect.fail{fill:var(--fail)}.rack rect.inconclusive{fill:var(--inconclusive)}
.rack a text{fill:#fff}.rack .unit,.rack .name{fill:var(--dim)}
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
.sign tbody td,.sign tbody th{height:64px;vertical-align:bottom}
@media screen{.fold>input:not(:checked)~div{display:none}.fold table{min-width:820px}}
@media print{@page{margin:12mm 10mm}body{font-size:11px;print-color-adjust:exact;
-webkit-print-color-adjust:exact}main{max-width:none;padding:0}table{font-size:9px}
code{font-size:8px}th,td{padding:2px 4px}
h1,h2,.fold>label{break-after:avoid}tr,svg,.sign,.tally{break-inside:avoid}
thead{display:table-header-group}.fold{border:0;background:none;margin:6px 0}
.fold>label{padding:6px 0}.fold>label::before{content:""!important}.fold>div{padding:0;overflow:visible}
.fold>input{display:none}}
)css";

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
