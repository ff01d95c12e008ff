// GPUs that need a reset are reset, each by itself, and no other one is touched. Never while a
// program holds the GPU, or it is divided (MIG). Where the driver resets one only together with all
// others, all are; where no reset mends it, the machine has to restart, which is not done here.
// Source: nvidia-smi(1),
// --gpu-reset.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/agent/node/stages/idle_gpus.h"
#include "burnin/agent/node/stages/kernel_events.h"
#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/reset_reasons.h"

namespace cupel::agent {
namespace {

constexpr std::array<std::string_view, 3> kFlaky{"fail", "contained", "pass"};
constexpr std::chrono::seconds kAskLimit{120}, kResetLimit{300};
constexpr std::size_t kMostPrinted = 16u << 20;  // nvidia-smi lists every process of every GPU

/// What becomes of one GPU. `result`: none, reset, held, restart, or alone until all are reset.
struct Answered {
  GpuNeed need{};
  std::string_view result = "none";
  std::string detail{};
};
using AllAnswered = std::vector<Answered>;

/// Empty where it does not answer for all GPUs.
Work<std::string> look(Node& node, std::string when) {
  const Command command{
      .argv = {"nvidia-smi", "-q", "-x"}, .limit = kAskLimit, .most = kMostPrinted};
  auto ran = co_await node.programs.run(command);
  node.lines.evidence("nvidia-smi", when, command, ran);
  co_return ran.status == 0 && !ran.cut ? std::move(ran.out) : std::string{};
}

/// "00000000:1B:00.0, 42, python3" names who holds that GPU.
bool is_holder_of(std::string_view line, std::string_view address) {
  return same_gpu(address, line.substr(0, line.find(',')));
}

/// Why the GPU may not be reset now; empty: it may. `address` empty: of any GPU.
Work<std::string> why_held(Node& node, std::string address, const AllAnswered& all) {
  for (const auto& each : all)
    if (each.need.divided && (address.empty() || each.need.address == address))
      co_return "MIG is on at " + each.need.address + ": a reset may take its instances away";
  const auto ran = co_await node.programs.run(ask_gpu_programs());
  if (ran.status != 0) co_return "nvidia-smi does not report which programs hold it";
  for (const auto line : lines(ran.out))
    for (const auto& each : all) {
      const bool meant = address.empty() || each.need.address == address;
      if (meant && is_holder_of(line, each.need.address))
        co_return "a program holds it: " + shortened(printable(line), 120);
    }
  co_return "";
}

/// Whether nvidia-smi reset all that it was to reset. It refuses a GPU that somebody uses.
Work<Ran> run_reset(Node& node, std::string part, std::vector<std::string> argv) {
  const Command command{.argv = std::move(argv), .limit = kResetLimit};
  auto ran = co_await node.programs.run(command);
  node.lines.evidence("reset", part, command, ran);
  co_return ran;
}

bool is_done(const Ran& ran) {
  return ran.status == 0 && ran.out.contains("successfully reset") &&
         !ran.out.contains("could not be reset");
}

/// Not the GPU's fault, so that no restart of the machine helps: somebody uses it, or we are not
/// root.
bool is_kept_from_it(const Ran& ran) {
  const auto text = ran.out + ran.err;
  return text.contains("In use by another client") || text.contains("Insufficient Permissions");
}

/// Its first words, for people.
std::string words_of(const Ran& ran) {
  if (ran.late) return "nvidia-smi --gpu-reset did not end within its limit";
  const auto text = trimmed(ran.out).empty() ? trimmed(ran.err) : trimmed(ran.out);
  return shortened(printable(text.substr(0, text.find('\n'))), 160);
}

Work<bool> reset_one(Node& node, Answered& gpu, const AllAnswered& all) {
  gpu.detail = co_await why_held(node, gpu.need.address, all);
  gpu.result = "held";
  if (!gpu.detail.empty()) co_return false;
  const std::vector<std::string> argv{"nvidia-smi", "--gpu-reset", "-i", gpu.need.address};
  const auto ran = co_await run_reset(node, gpu.need.address, argv);
  gpu.detail = words_of(ran);
  gpu.result = is_done(ran)           ? "reset"
               : is_kept_from_it(ran) ? "held"
               : ran.late ? "restart"  // it may be half reset: no other GPU is drawn into that
                          : "alone";
  co_return true;
}

/// Those that the driver does not reset alone.
Work<bool> reset_together(Node& node, AllAnswered& all) {
  auto held = co_await why_held(node, "", all);
  std::string_view result = "held";
  if (held.empty()) {
    const std::vector<std::string> argv{"nvidia-smi", "--gpu-reset"};
    const auto ran = co_await run_reset(node, "all", argv);
    held = is_done(ran) ? "reset together with all GPUs of the node" : words_of(ran);
    result = is_done(ran) ? "reset" : is_kept_from_it(ran) ? "held" : "restart";
  }
  for (auto& each : all) {
    if (each.result != "alone") continue;
    each.result = result;
    each.detail = held;
  }
  co_return true;
}

Work<bool> reset_all(Node& node, AllAnswered& all) {
  co_await wait_until_unused(node);
  for (auto& each : all) {
    if (each.need.why.empty()) continue;
    each.result = "restart";
    each.detail = "a reset does not mend it: the machine must restart";
    if (!each.need.restart) co_await reset_one(node, each, all);
  }
  const bool alone =
      std::ranges::any_of(all, [](const Answered& each) { return each.result == "alone"; });
  if (alone) co_await reset_together(node, all);
  co_return true;
}

/// What still needs a reset behind it needs a restart. The log is not asked again: it keeps what it
/// had.
Work<bool> look_again(Node& node, AllAnswered& all) {
  const auto after = co_await look(node, "after");
  const auto needs = needs_of(after, "");
  for (auto& each : all) {
    if (each.result != "reset") continue;
    const auto now = std::ranges::find(needs, each.need.address, &GpuNeed::address);
    const auto why =
        now == needs.end() ? std::string{"nvidia-smi does not list it any more"} : now->why;
    if (why.empty()) continue;
    each.result = "restart";
    each.detail = "after its reset: " + why;
  }
  co_return true;
}

void report(const Node& node, const Answered& gpu) {
  JsonLine line;
  line.add("result", gpu.result)
      .add("why", std::string_view{gpu.need.why})
      .add("detail", std::string_view{gpu.detail})
      .add("contained", gpu.need.contained)
      .add("other", gpu.need.other);
  node.lines.evidence("gpu", gpu.need.address, {}, {.status = 0, .out = line.object_text()});
}

}  // namespace

Work<GaveUp> run_gpu_reset(Node& node, const JsonValue& json) {
  OrderReader order{json};
  const auto flaky = order.word("flaky", kFlaky);
  if (!order.why().empty()) co_return order.why();
  if (!node.programs.has("nvidia-smi")) co_return "nvidia-smi is not installed on the node";
  const auto before = co_await look(node, "before");
  if (before.empty())
    co_return "nvidia-smi -q -x does not answer for all GPUs: none is reset; restart the machine";
  const auto log = co_await report_kernel_events(node, "dmesg", kAskLimit);
  AllAnswered all;
  for (auto& need : needs_of(before, log)) all.push_back({.need = std::move(need)});
  const bool any =
      std::ranges::any_of(all, [](const Answered& each) { return !each.need.why.empty(); });
  if (any) {
    co_await reset_all(node, all);
    co_await look_again(node, all);
  }
  node.lines.note("flaky", flaky);
  for (const auto& each : all) report(node, each);
  co_return {};
}

}  // namespace cupel::agent
