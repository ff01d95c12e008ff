// All GPUs at their power limit, by gpu_burn.
#include "burnin/agent/node/stages/idle_gpus.h"
#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/pinned.h"
#include "burnin/agent/node/stages/site_tool.h"

namespace cupel::agent {
namespace {

constexpr std::uint64_t kShortest = 10, kLongest = 7 * 86'400;  // seconds
constexpr std::array<std::string_view, 3> kPrecisions{"tensor", "double", "single"};

std::vector<std::string> options_for(std::string_view precision) {
  if (precision == "tensor") return {"-tc"};
  if (precision == "double") return {"-d", "-tc"};
  return {};
}

/// "50" of "50.3%  proc'd: ..."; empty for any other line.
std::string_view percent_of(std::string_view line) {
  return line.contains("proc'd:") ? line.substr(0, line.find('.')) : std::string_view{};
}

/// It draws its line anew many times a second, for as long as a week: of those with one per cent
/// the last is kept. Each ends where '\r' or '\n' begins the next; what has no end yet stays.
void keep_one_of_each_per_cent(std::string& out) {
  std::string kept, held;  // of the last line, where it may be replaced
  std::size_t begin = 0, held_at = 0;
  for (auto end = out.find_first_of("\r\n"); end != out.npos;
       begin = end + 1, end = out.find_first_of("\r\n", begin)) {
    const std::string percent{percent_of(std::string_view{out}.substr(begin, end - begin))};
    if (!percent.empty() && percent == held) kept.resize(held_at);
    held = percent;
    held_at = kept.size();
    kept.append(out, begin, end + 1 - begin);
  }
  out = kept.append(out, begin, out.npos);
}

}  // namespace

Work<GaveUp> run_gpu_burn(Node& node, const JsonValue& order) {
  OrderReader read{order};
  const auto folder = read.folder("directory");
  const auto seconds = read.amount("seconds", kShortest, kLongest);
  const auto precision = read.word("precision", kPrecisions);
  const auto limit = read.amount("limit", 1, kLongestLimit);
  if (!read.why().empty()) co_return read.why();
  const auto tool = site_tool(node, folder, "gpu_burn");
  if (!tool) co_return std::string{tool.error().what};
  const auto pin = co_await pin_on_idle_gpus(node, order);
  if (!pin) co_return std::string{pin.error().what};
  node.lines.asked("seconds", static_cast<double>(seconds));
  node.lines.note("precision", precision);
  // Its kernel lies beside it, and it looks for that in its working folder.
  Command command{.argv = {"env", "-C", tool->substr(0, tool->rfind('/')), *tool},
                  .environment = {cuda_order()},
                  .limit = std::chrono::seconds{limit},
                  .shorten = keep_one_of_each_per_cent};
  for (auto& option : options_for(precision)) command.argv.push_back(std::move(option));
  command.argv.push_back(std::to_string(seconds));
  co_return co_await run_pinned(node, *pin, "gpu_burn", std::move(command));
}

}  // namespace cupel::agent
