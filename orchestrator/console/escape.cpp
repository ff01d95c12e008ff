#include "orchestrator/console/escape.h"

namespace cupel::console {
namespace {

std::optional<Typed::Kind> meaning(char typed) {
  switch (typed) {
    case '.':
      return Typed::Kind::end;
    case 'B':
      return Typed::Kind::send_break;
    case '?':
      return Typed::Kind::help;
    default:
      return std::nullopt;
  }
}

void add(std::vector<Typed>& all, char byte) {
  if (all.empty() || all.back().kind != Typed::Kind::bytes) all.push_back({});
  all.back().bytes += byte;
}

}  // namespace

std::vector<Typed> Escape::feed(std::string_view typed) {
  std::vector<Typed> all;
  for (const char byte : typed) {
    if (pending_) {
      pending_ = false;
      if (const auto kind = meaning(byte)) {
        all.push_back({*kind, {}});
        continue;  // still at the beginning of a line
      }
      add(all, *escape_);
      at_line_start_ = false;
      if (byte == *escape_) continue;
    } else if (at_line_start_ && byte == escape_) {
      pending_ = true;
      continue;
    }
    add(all, byte);
    at_line_start_ = byte == '\r' || byte == '\n';
  }
  return all;
}

std::string help_text(char escape) {
  const std::string key(1, escape);
  return "\r\nAt the beginning of a line:\r\n  " + key + ".  end\r\n  " + key +
         "B  send a break\r\n  " + key + "?  this text\r\n  " + key + key +
         "  send the escape itself\r\n";
}

}  // namespace cupel::console
