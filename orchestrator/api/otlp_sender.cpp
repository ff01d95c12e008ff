#include "orchestrator/api/otlp_sender.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace cupel::api {
namespace {

constexpr std::size_t kLargestAnswer = 64u << 10, kLongestWords = 300;

bool may_be_sent_again(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

/// As the message Export...PartialSuccess of each signal calls it.
std::string_view rejected_key(OtlpSignal signal) {
  switch (signal) {
    case OtlpSignal::traces:
      return "partialSuccess/rejectedSpans";
    case OtlpSignal::logs:
      return "partialSuccess/rejectedLogRecords";
    case OtlpSignal::metrics:
      return "partialSuccess/rejectedDataPoints";
  }
  __builtin_unreachable();
}

void note_partial_success(const OtlpRequest& request, const json::value& body,
                          OtlpProgress& progress) {
  const auto most = static_cast<double>(request.items);
  const auto rejected = number_at(body, rejected_key(request.signal)).value_or(0);
  if (rejected > 0) progress.rejected += static_cast<std::size_t>(std::min(rejected, most));
  const auto words = text_at(body, "partialSuccess/errorMessage");
  if (words) progress.why = shortened(printable(valid_utf8(*words)), kLongestWords);
}

Error error_of(const handoff::ApiClient& client, const OtlpRequest& request,
               const handoff::ApiAnswer& answer) {
  const auto words = text_at(answer.body, "message").value_or(answer.text);
  Error error{may_be_sent_again(answer.status) ? Code::kBusy : Code::kFailed,
              fmt::format("{}: POST {}: HTTP {}: {}", client.server().who(), request.path(),
                          answer.status, shortened(printable(valid_utf8(words)), kLongestWords))};
  error.retry_after = answer.retry_after;
  return error;
}

}  // namespace

handoff::ApiClient otlp_client(std::string url, std::string ca,
                               std::optional<inventory::SecretRef> token, std::string section) {
  while (url.ends_with('/')) url.pop_back();
  return handoff::ApiClient{{.name = "the OTLP receiver",
                             .section = std::move(section),
                             .url = std::move(url),
                             .ca = std::move(ca),
                             .token = std::move(token),
                             .present = [](const std::string& bearer) {
                               std::vector<std::string> lines;
                               if (!bearer.empty())
                                 lines.push_back("Authorization: Bearer " + bearer);
                               return lines;
                             }}};
}

Task<Result<void>> send_otlp(handoff::ApiClient& client, std::span<const OtlpRequest> requests,
                             OtlpProgress& progress, Deadline deadline) {
  for (; progress.next < requests.size(); ++progress.next) {
    const auto& request = requests[progress.next];
    handoff::ApiRequest post{.method = "POST", .path = request.path(), .body = request.body};
    post.most = kLargestAnswer;
    post.any_status = true;
    CO_TRY(const auto answer, co_await client.ask(std::move(post), deadline));
    if (answer.status < 200 || answer.status >= 300) co_return error_of(client, request, answer);
    note_partial_success(request, answer.body, progress);
  }
  co_return ok();
}

}  // namespace cupel::api
