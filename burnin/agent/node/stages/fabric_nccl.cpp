// One node's ranks of a collective over several, by cupel-burn. The first node's makes NCCL's id,
// which goes to the controller as soon as it is there; the others get it in their order, and first
// reach the address in it.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/reported.h"
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {
namespace {

using std::chrono::seconds;

constexpr std::array<std::string_view, 3> kNcclWork{"collective", "train", "check"};
constexpr std::array<std::string_view, 6> kCollectives{"all_reduce", "all_gather", "reduce_scatter",
                                                       "all_to_all", "broadcast",  "send_recv"};
constexpr std::uint64_t kLeastMessage = 8, kMostMessage = 16ull << 30, kMostFactor = 1024;
constexpr std::uint64_t kMostTimes = 10'000, kMostSteps = 100'000, kMostNodes = 4096;
constexpr std::uint64_t kMostGpus = 64, kMostHour = 3600;
constexpr std::size_t kIdDigits = 256, kMostVariables = 160, kLongestVariable = 200;
/// Results of all sizes and GPUs: a line each.
constexpr std::size_t kMostOfBurn = 8u << 20;
/// Whatever hangs ends with the job, at the job's own limit: that it hung is what was found out.
constexpr seconds kWithTheJob{kLongestLimit};

struct NcclOrder {
  std::vector<std::string> argv{"cupel-burn"};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string id{};  // empty: this node makes it
};

/// As NCCL's id is written: 128 bytes.
std::string nccl_id_in(OrderReader& read, const JsonValue& order) {
  const auto* value = order.find("id");
  const auto* id = value == nullptr ? nullptr : value->text();
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const bool good = id != nullptr && id->size() == kIdDigits && std::ranges::all_of(*id, is_digit);
  if (!good) read.refuse("id of 256 hexadecimal digits");
  return good ? *id : "";
}

/// One of NCCL's, but for those that cupel-burn sets itself.
bool is_variable(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOurs{
      "NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS", "NCCL_COMM_ID", "NCCL_SOCKET_IFNAME"};
  const auto fits = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return name.starts_with("NCCL_") && name.size() <= kLongestVariable &&
         std::ranges::all_of(name, fits) && std::ranges::find(kOurs, name) == kOurs.end();
}

bool is_variables_value(const std::string* value) {
  const auto fits = [](char c) { return c > ' ' && c <= '~'; };
  return value != nullptr && value->size() <= kLongestVariable && std::ranges::all_of(*value, fits);
}

std::vector<std::pair<std::string, std::string>> environment_in(OrderReader& read,
                                                                const JsonValue& order) {
  std::vector<std::pair<std::string, std::string>> environment;
  const auto* value = order.find("environment");
  if (value == nullptr) return environment;
  const bool fits = value->object() != nullptr && value->object()->size() <= kMostVariables;
  if (!fits) return read.refuse("environment that is an object of NCCL's variables"), environment;
  for (const auto& [name, text] : *value->object()) {
    if (is_variable(name) && is_variables_value(text.text()))
      environment.emplace_back(name, *text.text());
    else
      read.refuse("environment of NCCL's variables alone: " + shortened(printable(name), 80));
  }
  return environment;
}

std::string operations_in(OrderReader& read) {
  std::string text;
  for (const auto& each : read.list("operations", kCollectives.size())) {
    const auto* name = each.text();
    const bool known =
        name != nullptr && std::ranges::find(kCollectives, *name) != kCollectives.end();
    if (!known) read.refuse("operation that this stage knows");
    if (known) text += (text.empty() ? "" : ",") + *name;
  }
  if (text.empty()) read.refuse("operations");
  return text;
}

std::string amount_text(OrderReader& read, std::string_view key, std::uint64_t least,
                        std::uint64_t most) {
  return std::to_string(read.amount(key, least, most));
}

std::vector<std::string> work_in(OrderReader& read, const std::string& work) {
  if (work == "train")
    return {work, "--repeats", "1", "--passes", amount_text(read, "steps", 1, kMostSteps)};
  return {work,
          "--ops",
          operations_in(read),
          "--min",
          amount_text(read, "min", kLeastMessage, kMostMessage),
          "--max",
          amount_text(read, "max", kLeastMessage, kMostMessage),
          "--factor",
          amount_text(read, "factor", 2, kMostFactor),
          "--times",
          amount_text(read, "times", 1, kMostTimes)};
}

/// "0-7", "3"
std::string gpus_in(OrderReader& read) {
  const auto first = read.amount("gpu", 0, kMostGpus - 1);
  const auto count = read.amount("gpus", 1, kMostGpus);
  const auto text = std::to_string(first);
  return count <= 1 ? text : text + "-" + std::to_string(first + count - 1);
}

std::vector<std::string> ranks_in(OrderReader& read) {
  constexpr auto kMostRanks = kMostNodes * kMostGpus;
  return {"--ranks",       amount_text(read, "ranks", 2, kMostRanks),
          "--rank-base",   amount_text(read, "first", 0, kMostRanks - 1),
          "--gpus",        gpus_in(read),
          "--join-within", amount_text(read, "join", 1, kMostHour),
          "--hang-after",  amount_text(read, "hang", 1, kMostHour),
          "--seconds",     amount_text(read, "seconds", 1, kLongestLimit)};
}

NcclOrder nccl_order_in(OrderReader& read, const JsonValue& asked, const std::string& work) {
  NcclOrder order;
  const auto add = [&](const std::vector<std::string>& words) {
    order.argv.insert(order.argv.end(), words.begin(), words.end());
  };
  if (work == "check") {
    add({"nccl-id", "--id-file", "-"});
    order.id = nccl_id_in(read, asked);
    return order;
  }
  add(work_in(read, work));
  add(ranks_in(read));
  if (asked.find("interface") != nullptr) add({"--interface", read.name("interface")});
  if (asked.find("address") != nullptr) add({"--address", read.host("address")});
  if (asked.find("id") != nullptr) order.id = nccl_id_in(read, asked);
  if (order.id.empty())
    add({"--make-id"});
  else
    add({"--id-file", "-"});
  order.environment = environment_in(read, asked);
  return order;
}

/// cupel-burn prints its progress every second, for as long as it runs.
void drop_progress(std::string& out) {
  std::string kept;
  const auto end = out.rfind('\n') + 1;  // what follows may still be under way
  for (const auto line : lines(std::string_view{out}.substr(0, end)))
    if (!line.starts_with(R"({"kind":"progress")")) kept.append(line).push_back('\n');
  out = kept.append(out, end);
}

/// Hands on what cupel-burn prints of NCCL's id while it runs: the other nodes wait for it. The
/// controller checks it.
class IdRelay {
 public:
  explicit IdRelay(StageLines& lines) : lines_{lines} {}

  void look(std::string_view out) {
    constexpr std::string_view kMark = R"({"kind":"nccl-id")";
    const auto at = handed_on_ ? out.npos : out.find(kMark);
    const auto end = at == out.npos ? out.npos : out.find('\n', at);
    if (end == out.npos) return;
    handed_on_ = true;
    const auto read = JsonValue::parse(out.substr(at, end - at));
    const auto value = read ? *read : JsonValue{};
    const auto* port = value.find("port");
    JsonLine line{"nccl-id"};
    line.add("id", text_of(value, "id")).add("address", text_of(value, "address"));
    lines_.write(line.add("port", port == nullptr ? 0 : port->count().value_or(0)));
  }

 private:
  static std::string text_of(const JsonValue& line, std::string_view key) {
    const auto* value = line.find(key);
    const auto* text = value == nullptr ? nullptr : value->text();
    return text == nullptr ? "" : shortened(printable(*text), kIdDigits);
  }

  StageLines& lines_;
  bool handed_on_ = false;
};

}  // namespace

Work<GaveUp> run_fabric_nccl(Node& node, const JsonValue& asked) {
  OrderReader read{asked};
  const auto work = read.word("work", kNcclWork);
  auto order = nccl_order_in(read, asked, work);
  if (!read.why().empty()) co_return read.why();
  if (!node.programs.has("cupel-burn")) co_return "cupel-burn is not installed on the node";
  IdRelay relay{node.lines};
  Command command{.argv = std::move(order.argv),
                  .input = order.id.empty() ? "" : order.id + "\n",
                  .environment = std::move(order.environment),
                  .limit = kWithTheJob,
                  .most = kMostOfBurn};
  command.shorten = [&relay, makes_id = order.id.empty()](std::string& out) {
    if (makes_id) relay.look(out);
    drop_progress(out);
  };
  // The job may end at its limit, with the sizes of the message that were measured until then.
  co_await run_reported(node, work == "check" ? "nccl-id" : "cupel-burn", std::move(command));
  co_return {};
}

}  // namespace cupel::agent
