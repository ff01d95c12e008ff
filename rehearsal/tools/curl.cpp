// curl of a virtual node: what is posted to, or fetched from, this machine; nobody else is asked.
#include <fmt/format.h>

#include "rehearsal/http_client.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

constexpr std::size_t kLargest = 16u << 20;
// Source: curl(1), EXIT CODES.
constexpr int kUsage = 2, kUrl = 3, kConnect = 7, kHttp = 22;

Task<int> curl(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(
      arguments, "fsSm:H:d:E:o:", {{"data-binary", 'd'}, {"cacert", 'E'}, {"fail", 'f'}});
  if (!options.unknown.empty() || options.operands.size() != 1)
    co_return co_await print_error(process, "curl", "try 'curl --help'", kUsage);
  const auto uri = loopback_uri(options.operands[0]);
  if (!uri) co_return co_await print_error(process, "curl", "(3) no URL of this machine", kUrl);
  HttpAsk ask{.uri = *uri, .from = process->host.address(), .agent = "curl/7.88.1"};
  if (options.has('d')) {
    ask.method = "POST";
    ask.body = options.value('d');
    if (ask.body == "@-") {
      ask.body.clear();
      co_await process->read_all(0, ask.body);
    }
  }
  auto reply = co_await ask_http(std::move(ask), kLargest);
  if (!reply) {
    auto why = fmt::format("({}) {}", kConnect, reply.error().what);
    co_return co_await print_error(process, "curl", std::move(why), kConnect);
  }
  if (options.has('f') && reply->status >= 400) {
    auto why = fmt::format("({}) The requested URL returned error: {}", kHttp, reply->status);
    co_return co_await print_error(process, "curl", std::move(why), kHttp);
  }
  co_await process->say(reply->body);
  co_return 0;
}

constexpr auto kTools = std::to_array<Tool>({{"curl", curl}});

}  // namespace

std::span<const Tool> http_tools() { return kTools; }

}  // namespace cupel::rehearsal
