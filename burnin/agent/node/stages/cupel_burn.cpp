// GPUs under one of cupel-burn's loads: once nobody uses them, and once it has found an error that
// it planted itself. The driver's sensors meanwhile, and what the kernel wrote of GPUs until then.
// Source: nvidia-smi(1), --help-query-gpu.
#include <algorithm>

#include "base/text.h"
#include "burnin/agent/node/stages/idle_gpus.h"
#include "burnin/agent/node/stages/kernel_events.h"
#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/reported.h"
#include "burnin/agent/node/stages/together.h"

namespace cupel::agent {
namespace {

using std::chrono::seconds;

constexpr std::size_t kLongestWord = 200, kMostWords = 32;
constexpr std::uint64_t kLongestBurn = 7 * 86'400, kLongestPeriod = 3600;  // seconds
constexpr const char* kSelfTest = "60";      // seconds that it may take
constexpr const char* kSelfTestEnds = "50";  // after so many it reports itself that it was too slow
/// Bytes of what is reported: with that of companions less than what a job's spool takes.
constexpr std::size_t kMostSamples = 8u << 20, kMostLines = 4u << 20;

struct BurnOrder {
  std::string command{};
  std::uint64_t seconds, period, limit;
  std::vector<std::string> arguments{}, of_self_test{};
};

/// Lower case, digits and these others, not one of them first: no path, and no option in the place
/// of a value. Which words cupel-burn takes it checks itself.
bool is_plain(std::string_view text, std::string_view others) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kLongestWord && is_letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || others.contains(c); });
}

/// Empty where the order has none.
std::string command_in(const JsonValue& order) {
  const auto* value = order.find("command");
  const auto* word = value == nullptr ? nullptr : value->text();
  return word != nullptr && is_plain(*word, "") ? *word : std::string{};
}

/// Of a list of options, each with its value; nothing where it is none.
std::optional<std::vector<std::string>> options_in(const JsonValue& order, std::string_view key) {
  const auto* list = order.find(key);
  if (list == nullptr || list->array() == nullptr) return std::nullopt;
  std::vector<std::string> words;
  for (const auto& each : *list->array()) {
    const auto* word = each.text();
    if (word == nullptr || words.size() == kMostWords) return std::nullopt;
    const std::string_view text{*word};
    const bool is_name = words.size() % 2 == 0;
    const bool fits =
        is_name ? text.starts_with("--") && is_plain(text.substr(2), "-") : is_plain(text, ".,_-");
    if (!fits) return std::nullopt;
    words.push_back(*word);
  }
  return words.size() % 2 == 0 ? std::optional{std::move(words)} : std::nullopt;
}

/// "bf16,fp8"; empty where the command takes none.
std::string types_in(const std::vector<std::string>& arguments) {
  const auto found = std::ranges::find(arguments, "--types");
  return found == arguments.end() ? std::string{} : *std::next(found);
}

/// It prints where it is, every ten seconds: the last of these shows what it did when it hung.
void keep_last_progress(std::string& out) {
  std::string kept;
  std::string_view progress;
  for (const auto line : lines(out))
    if (line.contains(R"("kind":"progress")"))
      progress = line;
    else
      kept.append(line).append("\n");
  if (!progress.empty()) kept.append(progress).append("\n");
  out = std::move(kept);
}

Command self_test(const BurnOrder& order) {
  // Asked to end at its time it still reports what it did until then.
  Command command{
      .argv = {"timeout", kSelfTest, "cupel-burn", order.command, "--seconds", kSelfTestEnds},
      .limit = seconds{order.limit},
      .most = kMostLines};
  command.argv.insert(command.argv.end(), order.of_self_test.begin(), order.of_self_test.end());
  command.argv.emplace_back("--self-test");
  return command;
}

Command burn_command(const BurnOrder& order) {
  Command command{.argv = {"cupel-burn", order.command, "--seconds", std::to_string(order.seconds)},
                  .limit = seconds{order.limit},
                  .most = kMostLines,
                  .shorten = keep_last_progress};
  command.argv.insert(command.argv.end(), order.arguments.begin(), order.arguments.end());
  return command;
}

/// One nvidia-smi samples for as long as the load lasts: a new one each time would wake and ask the
/// driver anew. To a pipe it would print whole blocks.
Command sampling(const BurnOrder& order, const std::string& reasons) {
  return {.argv = {"stdbuf", "-oL", "nvidia-smi",
                   "--query-gpu=pci.bus_id,temperature.gpu,temperature.memory," + reasons +
                       ",power.draw,enforced.power.limit,clocks.sm",
                   "--format=csv,noheader,nounits", "-l", std::to_string(order.period)},
          .limit = seconds{order.limit},
          .most = kMostSamples};
}

/// Drivers before 535 know the reasons of a clock that is held back by their older name.
Work<std::string> find_reasons(Node& node) {
  const Command ask{.argv = {"nvidia-smi", "--query-gpu=clocks_event_reasons.active",
                             "--format=csv,noheader,nounits"},
                    .limit = seconds{60}};
  const auto ran = co_await node.programs.run(ask);
  const bool is_old = (ran.out + ran.err).contains("not a valid field");
  co_return is_old ? "clocks_throttle_reasons.active" : "clocks_event_reasons.active";
}

/// Both are reported at the samples' pace, and the sampling ends with the load.
Work<bool> burn(Node& node, const BurnOrder& order, const std::string& reasons) {
  Reported samples{node, "samples", sampling(order, reasons)};
  Reported load{node, "run", burn_command(order)};
  int sampler = samples.start();
  const int burning = load.start();
  std::optional<Ended> ended;
  while (!ended || ended->number != burning) {
    ended = co_await node.programs.first_end(seconds{order.period});
    if (!ended) {
      samples.report();
      load.report();
    } else if (ended->number == sampler) {
      samples.end(std::move(ended->ran));
      sampler = 0;
    }
  }
  load.end(std::move(ended->ran));
  if (sampler == 0) co_return true;
  auto ran = co_await node.programs.stop(sampler);
  samples.end(std::move(ran));
  co_return true;
}

Work<GaveUp> burn_idle_gpus(Node& node, const JsonValue& asked) {
  OrderReader read{asked};
  BurnOrder order{command_in(asked), read.amount("seconds", 1, kLongestBurn),
                  read.amount("period", 1, kLongestPeriod), read.amount("limit", 1, kLongestLimit)};
  if (!read.why().empty()) co_return read.why();
  if (order.command.empty()) co_return "the order has no command of cupel-burn";
  auto arguments = options_in(asked, "arguments"), of_self_test = options_in(asked, "self-test");
  if (!arguments || !of_self_test)
    co_return "the order has no arguments and self-test that are lists of cupel-burn's options";
  order.arguments = *std::move(arguments);
  order.of_self_test = *std::move(of_self_test);
  for (const auto* tool : {"cupel-burn", "nvidia-smi"})
    if (!node.programs.has(tool)) co_return std::string{tool} + " is not installed on the node";
  node.lines.asked("seconds", static_cast<double>(order.seconds));
  node.lines.note("types", types_in(order.arguments));
  const auto use = co_await wait_until_unused(node);
  node.lines.evidence("gpus", "", ask_gpu_use(), use.gpus);
  node.lines.evidence("apps", "", ask_gpu_programs(), use.programs);
  node.lines.note("busy", use.busy ? "yes" : "no");
  if (use.busy) co_return {};
  const seconds limit{order.limit};
  const auto before = co_await last_kernel_time(node, limit);
  node.lines.note("kernel-before", before);
  const auto reasons = co_await find_reasons(node);
  const auto tested = co_await run_reported(node, "self-test", self_test(order));
  if (tested.status == 0) co_await burn(node, order, reasons);
  co_await report_kernel_events(node, "kernel", limit);
  co_return {};
}

}  // namespace

Work<GaveUp> run_cupel_burn(Node& node, const JsonValue& order) {
  const auto* asked = order.find("seconds");
  const auto planned = asked == nullptr ? std::nullopt : asked->count();
  const seconds span{std::min(planned.value_or(0), kLongestBurn)};
  co_return co_await run_together(node, order, span, burn_idle_gpus);
}

}  // namespace cupel::agent
