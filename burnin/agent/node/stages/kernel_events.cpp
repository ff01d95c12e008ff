#include "burnin/agent/node/stages/kernel_events.h"

#include <deque>

#include "base/text.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kMostLog = 32u << 20, kMostEvents = 400;

std::string events_in(std::string_view log) {
  std::deque<std::string_view> latest;
  for (const auto line : lines(log)) {
    if (!line.contains("NVRM: Xid") && !line.contains("SXid")) continue;
    latest.push_back(line);
    if (latest.size() > kMostEvents) latest.pop_front();
  }
  std::string text;
  for (const auto line : latest) text.append(line).append("\n");
  return text;
}

/// What follows the last end of a line that more stands behind.
void keep_last_line(std::string& out) {
  const auto end = out.size() < 2 ? out.npos : out.rfind('\n', out.size() - 2);
  if (end != out.npos) out.erase(0, end + 1);
}

}  // namespace

Work<std::string> report_kernel_events(Node& node, std::string name, std::chrono::seconds limit) {
  const Command command{.argv = {"dmesg"}, .limit = limit, .most = kMostLog};
  auto ran = co_await node.programs.run(command);
  ran.out = events_in(ran.out);
  node.lines.evidence(name, "", command, ran);
  co_return ran.status == 0 ? std::move(ran.out) : std::string{};
}

Work<std::string> last_kernel_time(Node& node, std::chrono::seconds limit) {
  const Command command{.argv = {"dmesg"}, .limit = limit, .shorten = keep_last_line};
  const auto ran = co_await node.programs.run(command);
  co_return ran.out.substr(0, ran.out.find(']'));
}

}  // namespace cupel::agent
