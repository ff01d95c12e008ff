#include "orchestrator/ssh/remote_process.h"

#include <utility>

#include "base/text.h"

namespace cupel::ssh {
namespace {
constexpr std::string_view kWord = "cupel-process-group:";

/// A shell's start-up file may print a line, but nothing longer than this comes before ours.
constexpr std::size_t kPatience = 64 * 1024;

/// 0 and 1 would be everybody.
std::optional<long> group_in(std::string_view text) {
  const auto id = number<long>(text);
  return id && *id > 1 ? id : std::nullopt;
}
}  // namespace

std::string announced(std::string_view command) {
  return "echo " + std::string{kWord} + "$$ >&2\n" + std::string{command};
}

// `kill -s NAME`, because the login shell may be dash, which takes no "--" behind `kill -NAME`.
std::string killing(long group) {
  const auto id = std::to_string(group);
  return "kill -s TERM -- -" + id + " 2>/dev/null || exit 0\n" +
         "for try in 1 2 3 4 5 6 7 8 9 10; do\n"
         "  kill -s 0 -- -" +
         id + " 2>/dev/null || exit 0\n" + "  sleep 0.1\ndone\n" + "kill -s KILL -- -" + id +
         " 2>/dev/null\n";
}

std::string Announcement::take(std::string_view piece) {
  if (group_) return std::string{piece};
  held_ += piece;
  std::string passed;
  std::size_t from = 0;
  for (auto end = held_.find('\n'); end != held_.npos && !group_; end = held_.find('\n', from)) {
    const auto line = std::string_view{held_}.substr(from, end - from);
    if (line.starts_with(kWord)) group_ = group_in(line.substr(kWord.size()));
    if (!group_) passed.append(line).append("\n");
    from = end + 1;
  }
  held_.erase(0, from);
  if (group_ || held_.size() > kPatience) passed += std::exchange(held_, {});
  return passed;
}

}  // namespace cupel::ssh
