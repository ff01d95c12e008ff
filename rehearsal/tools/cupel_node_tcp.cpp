// `cupel-node tcp` of a virtual machine. No virtual machine reaches another one: each side reports
// what two healthy nodes on 10 Gb/s Ethernet measure, after as long as that takes.
#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/cupel_node.h"

namespace cupel::rehearsal {
namespace {

constexpr double kBytesPerSecond = 9.41e9 / 8;  // of 10 Gb/s, less what Ethernet, IP and TCP take
constexpr double kSegment = 1448;
constexpr int kPort = 40'000;
constexpr int kRtt = 60;  // microseconds

struct Transfer {
  bool good = true;
  double seconds = 10, most = 64.0 * (1 << 30);
  int port = 0;
  double bytes() const { return std::min(most, std::floor(kBytesPerSecond * seconds)); }
  double time() const { return bytes() / kBytesPerSecond; }
};

Transfer read_transfer(const Arguments& arguments) {
  Transfer asked;
  for (std::size_t i = 3; i < arguments.size(); i += 2) {
    const auto& name = arguments[i];
    const bool known = name == "--seconds" || name == "--most" || name == "--port" ||
                       name == "--wait" || name == "--to";
    const auto value = i + 1 < arguments.size() ? number<double>(arguments[i + 1]) : std::nullopt;
    asked.good = asked.good && known && i + 1 < arguments.size() && (value || name == "--to");
    if (!asked.good) return asked;
    if (name == "--seconds") asked.seconds = *value;
    if (name == "--most") asked.most = *value;
    if (name == "--port") asked.port = static_cast<int>(*value);
  }
  return asked;
}

std::string sent_text(const Transfer& asked) {
  return fmt::format(
      R"({{"kind":"tcp-sent","bytes":{:.0f},"segments":{:.0f},"retransmits":0,"rtt_us":{}}})"
      "\n",
      asked.bytes(), std::ceil(asked.bytes() / kSegment), kRtt);
}

std::string received_text(const Transfer& asked) {
  return fmt::format(R"({{"kind":"tcp-received","bytes":{:.0f},"seconds":{}}})"
                     "\n",
                     asked.bytes(), asked.time());
}

}  // namespace

Task<int> virtual_cupel_node_tcp(ProcessPtr process, Arguments arguments) {
  const bool serves = arguments.size() > 2 && arguments[2] == "serve";
  const bool sends = arguments.size() > 2 && arguments[2] == "send";
  const auto asked = read_transfer(arguments);
  if ((!serves && !sends) || !asked.good) {
    co_await process->print_error("usage: cupel-node tcp serve | send ...\n");
    co_return 64;
  }
  if (serves) {
    const auto ready = fmt::format(R"({{"kind":"tcp-ready","port":{},"token":"{:032x}"}})"
                                   "\n",
                                   asked.port == 0 ? kPort : asked.port, asked.port + kPort);
    co_await process->say(ready);
  }
  const auto first = serves ? received_text(asked) : sent_text(asked);
  const auto second = serves ? sent_text(asked) : received_text(asked);
  for (const auto& text : {first, second}) {
    const bool slept = co_await process->sleep(VirtualTime{asked.time()});
    if (!slept) co_return 130;
    co_await process->say(text);
  }
  if (serves) co_await process->say("{\"kind\":\"tcp-refused\",\"count\":0}\n");
  co_return 0;
}

}  // namespace cupel::rehearsal
