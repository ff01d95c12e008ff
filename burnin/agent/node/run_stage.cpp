#include "burnin/agent/node/run_stage.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "burnin/agent/common/options.h"
#include "burnin/agent/node/node_programs.h"
#include "burnin/agent/node/node_scratch.h"
#include "burnin/agent/node/node_settings.h"
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {
namespace {

/// To standard output, each at once. Where the reader is gone, the supervisor ends the job anyway.
class PrintedLines final : public StageLines {
 public:
  void write(const JsonLine& line) override { print(line); }
};

/// One byte more than an order may have, so that a longer one is seen to be one.
std::string read_order() {
  std::string order;
  std::array<char, 4096> piece{};
  while (order.size() <= kMostOrder) {
    const auto got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    order.append(piece.data(), static_cast<std::size_t>(got));
  }
  return order;
}

std::string stage_usage() {
  std::string text = "usage: cupel-node stage NAME [--root FOLDER] < ORDER\n  stages:";
  for (const auto& each : stage_rows()) text.append(" ").append(each.name);
  return text + "\n";
}

int do_stage(const std::string& root, std::string name, std::string order) {
  const Tree tree{root};
  NodePrograms programs;
  NodeClock clock;
  PrintedLines lines;
  NodeScratch scratch{root};
  NodeSettings settings{root};
  Node node{tree, programs, clock, lines, scratch, {}, settings};
  const char* job = std::getenv("CUPEL_JOB");
  if (job != nullptr) node.job = job;
  auto work = run_stage(node, std::move(name), std::move(order));
  work.start();
  return work.result();
}

constexpr Choice kRoot{.name = "--root", .kind = Choice::Kind::kText, .fallback = "/"};

}  // namespace

int run_stage_command(Arguments arguments) {
  const auto options = Options::read({&kRoot, 1}, arguments);
  if (!options || options->operands().size() != 1) return write_all(2, stage_usage()), kUsage;
  return do_stage(options->text("--root"), std::string{options->operands().front()}, read_order());
}

int restore_settings_command(Arguments arguments) {
  constexpr std::array kChoices{kRoot, Choice{.name = "--timer"}};
  const auto options = Options::read(kChoices, arguments);
  if (!options || !options->operands().empty())
    return write_all(2, "usage: cupel-node restore-settings [--timer] [--root FOLDER]\n"), kUsage;
  return do_stage(options->text("--root"), "settings-restore",
                  options->flag("--timer") ? R"({"by":"timer"})" : R"({"by":"hand"})");
}

}  // namespace cupel::agent
