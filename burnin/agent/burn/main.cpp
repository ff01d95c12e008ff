// cupel-burn COMMAND [CHOICES]: what a node's GPUs are put through. JSON lines on standard output.
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>

#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/own_libraries.h"

namespace cupel::burn {
namespace {

constexpr int kUsage = 64;
constexpr int kHang = 3;

const auto& commands() {
  static const std::array all{
      devices_command(), gemm_command(), hbm_command(),        train_command(),
      pcie_command(),    p2p_command(),  collective_command(), nccl_id_command(),
  };
  return all;
}

void print_choices(std::span<const Choice> choices) {
  for (const auto& choice : choices) {
    std::string values{choice.words};
    if (choice.kind == Choice::Kind::kSize) values = "BYTES (" + std::string{choice.fallback} + ")";
    if (choice.kind == Choice::Kind::kNumber || choice.kind == Choice::Kind::kCount)
      values = "N (" + std::string{choice.fallback} + ")";
    if (choice.kind == Choice::Kind::kTimes) values = "[TIMES]";
    if (choice.kind == Choice::Kind::kText) values = "VALUE";
    std::printf("      %.*s %s  %.*s\n", static_cast<int>(choice.name.size()), choice.name.data(),
                values.c_str(), static_cast<int>(choice.help.size()), choice.help.data());
  }
}

/// Of one command, or of all.
void print_help(std::string_view only = {}) {
  std::puts("cupel-burn COMMAND [CHOICES]: puts the GPUs of this node through it; JSON lines\n");
  for (const auto& command : commands()) {
    if (!only.empty() && command.name != only) continue;
    std::printf("  %-11s %s\n", std::string{command.name}.c_str(),
                std::string{command.help}.c_str());
    print_choices(command.choices);
  }
  if (only.empty()) std::puts("  libraries   which CUDA libraries this node has that it can use");
  std::puts("\n  all of them:");
  print_choices(common_choices());
  std::puts(
      "\n  0 nothing wrong, 1 fault found, 2 could not find out, 3 hang, 4 stopped, 64 usage");
}

/// What could not be begun: still a report, so that a spool never ends without a reason.
int refuse(Report& report, const Failure& failure) {
  report.failure(failure);
  report.end(false, false);
  return failure.code == "usage" ? kUsage : exit_status(report, false);
}

int run(const Command& command, const Options& options, Report& report) {
  Stop stop{std::chrono::duration_cast<Stop::Clock::duration>(options.seconds())};
  stop.listen();
  Watchdog watchdog{options.hang_after()};
  auto outcome = [&] {
    const WatchdogThread watching{watchdog, report, options.seconds().count(),
                                  [] { ::_exit(kHang); }};
    return command.run(options, report, stop, watchdog);
  }();
  if (!outcome) {
    report.failure(outcome.error());
    if (outcome.error().code == "usage") {
      report.end(false, false);
      return kUsage;
    }
  }
  const bool hung = report.has_hang();  // and what hung was given up
  const bool complete = outcome.has_value() && !stop.by_signal() && !stop.given_up() && !hung;
  report.end(complete, stop.by_signal());
  if (hung) return kHang;
  return exit_status(report, stop.by_signal());
}

/// "help", "help gemm", "--help", "gemm --help", "gemm -h".
bool tells_help(std::span<const std::string_view> arguments) {
  const auto is_help = [](std::string_view word) { return word == "--help" || word == "-h"; };
  const auto is_command = [](std::string_view word) {
    return std::ranges::find(commands(), word, &Command::name) != commands().end();
  };
  const bool named = arguments.size() > 1;
  if (arguments[0] == "help" || is_help(arguments[0])) {
    print_help(named && is_command(arguments[1]) ? arguments[1] : std::string_view{});
    return true;
  }
  if (!named || !is_help(arguments[1]) || !is_command(arguments[0])) return false;
  print_help(arguments[0]);
  return true;
}

int main_of(std::span<const std::string_view> arguments) {
  if (arguments.empty()) {
    print_help();
    return kUsage;
  }
  if (tells_help(arguments)) return 0;
  if (arguments[0] == "--version") {
    std::puts("cupel-burn " CUPEL_VERSION);
    return 0;
  }
  if (arguments[0] == "libraries") {
    std::fputs(library_lines().c_str(), stdout);
    return 0;
  }
  Report report{to_stdout()};
  const auto command = std::ranges::find(commands(), arguments[0], &Command::name);
  if (command == commands().end())
    return refuse(report, {.code = "usage",
                           .message = "no command \"" + std::string{arguments[0].substr(0, 60)} +
                                      "\"; see cupel-burn help"});
  const auto seed =
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  const auto options = Options::parse(command->name, command->choices, arguments.subspan(1), seed);
  if (!options) return refuse(report, options.error());
  if (command->check != nullptr)
    if (const auto fits = command->check(*options); !fits) return refuse(report, fits.error());
  return run(*command, *options, report);
}

}  // namespace
}  // namespace cupel::burn

/// libstdc++, which is linked in, would have glibc 2.36's; nodes have 2.34.
extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  while (::getrandom(&value, sizeof value, 0) != sizeof value) continue;
  return value;
}

int main(int count, char** words) {
  const std::vector<std::string_view> arguments(words + 1, words + count);
  return cupel::burn::main_of(arguments);
}
