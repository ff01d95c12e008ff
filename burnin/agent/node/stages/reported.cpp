#include "burnin/agent/node/stages/reported.h"

#include <algorithm>

namespace cupel::agent {
namespace {

constexpr std::size_t kLongestPiece = 64 * 1024;

}  // namespace

Reported::Reported(Node& node, std::string name, Command command)
    : node_{node},
      name_{std::move(name)},
      command_{std::move(command)},
      shorten_{std::move(command_.shorten)} {
  command_.shorten = [this](std::string& out) { take(out); };
}

/// A line that is drawn anew ends with '\r'. Behind a cut nothing is kept: nobody could see where
/// the gap is.
void Reported::take(std::string& out) {
  const auto size = out.find_last_of("\r\n") + 1;
  if (!cut_) waiting_.append(out, 0, size);
  out.erase(0, size);
  if (size == 0 || cut_) return;
  if (shorten_) shorten_(waiting_);
  if (waiting_.size() >= kLongestPiece) report();
  keep_room();
}

void Reported::keep_room() {
  const auto room = command_.most - reported_;
  cut_ = cut_ || waiting_.size() > room;
  waiting_.resize(std::min(waiting_.size(), room));
}

void Reported::report() {
  if (waiting_.empty() || waiting_.size() > command_.most / 2 - reported_) return;
  node_.lines.piece(name_, waiting_);
  reported_ += waiting_.size();
  waiting_.clear();
}

void Reported::end(Ran ran) {
  if (!cut_) waiting_ += ran.out;
  keep_room();
  ran.out = std::move(waiting_);
  ran.cut = ran.cut || cut_;
  node_.lines.evidence(name_, "", command_, ran);
}

std::chrono::milliseconds report_pace(std::chrono::seconds limit) {
  using std::chrono::seconds;
  return std::clamp(limit / 480, seconds{5}, seconds{60});
}

Work<Ran> run_reported(Node& node, std::string name, Command command) {
  const auto pace = report_pace(command.limit);
  const auto cpus = command.cpus;
  Reported reported{node, std::move(name), std::move(command)};
  reported.start();
  while (true) {
    auto ended = co_await node.programs.first_end(pace);
    if (!ended) {
      reported.report();
      continue;
    }
    if (ended->ran.cpus == cpus) reported.end(ended->ran);
    co_return std::move(ended->ran);
  }
}

}  // namespace cupel::agent
