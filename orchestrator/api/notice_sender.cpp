#include "orchestrator/api/notice_sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/left_out.h"
#include "base/text.h"
#include "bmc/redfish/curl_loop.h"
#include "inventory/secret.h"

namespace cupel::api {
namespace {

using Kind = NoticeHook::Kind;
using bmc::redfish::CurlLoop;
using bmc::redfish::OnTheWay;
using bmc::redfish::Transfer;

constexpr int kMostConnections = 2 * static_cast<int>(kMostHooks);

/// Where it goes, and with what.
struct Target {
  std::string url{};
  std::string secret{};  // bearer token or password
};

/// The lists that curl reads until a transfer has ended.
struct Lists {
  Lists() = default;
  Lists(const Lists&) = delete;
  Lists& operator=(const Lists&) = delete;
  ~Lists() { curl_slist_free_all(recipients); }
  curl_slist* recipients = nullptr;
};

/// What curl reads of a mail, piece by piece.
struct Upload {
  std::string text{};
  std::size_t sent = 0;
};

std::size_t on_read(char* bytes, std::size_t size, std::size_t count, void* argument) {
  auto& upload = *static_cast<Upload*>(argument);
  const auto piece = std::min(size * count, upload.text.size() - upload.sent);
  std::memcpy(bytes, upload.text.data() + upload.sent, piece);
  upload.sent += piece;
  return piece;
}

Task<Result<Target>> target_of(const NoticeHook& hook, Deadline deadline) {
  Target target{.url = hook.url};
  if (hook.secret_url) {
    CO_TRY(target.url, co_await inventory::resolve_secret(*hook.secret_url, deadline));
    if (const auto fault = fault_in_hook_url(hook.kind, target.url))
      co_return Error{Code::kInvalid, *fault};
  }
  if (hook.secret) {
    CO_TRY(target.secret, co_await inventory::resolve_secret(*hook.secret, deadline));
    const bool plain =
        std::ranges::all_of(target.secret, [](char each) { return each >= ' ' && each != '\x7f'; });
    if (!plain) co_return Error{Code::kInvalid, "the secret has control characters in it"};
  }
  co_return target;
}

void set_common(CURL* easy, const NoticeHook& hook) {
  constexpr auto kMilliseconds = [](auto span) {
    return static_cast<long>(std::chrono::milliseconds{span}.count());
  };
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kMilliseconds(NoticeSender::kConnectPatience));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, kMilliseconds(NoticeSender::kPatience));
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  if (!hook.ca.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, hook.ca.c_str());
}

void set_post(Transfer& transfer, const NoticeHook& hook, const NoticeMessage& message,
              const std::string& token) {
  CURL* easy = transfer.easy;
  const auto body = hook.kind == Kind::slack ? slack_body(message) : webhook_body(message);
  std::vector<std::string> lines{"Content-Type: application/json", "Expect:", "User-Agent: cupel",
                                 "Idempotency-Key: " + message.id};
  if (!token.empty()) lines.push_back("Authorization: Bearer " + token);
  for (const auto& line : lines)
    transfer.headers = curl_slist_append(transfer.headers, line.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer.headers);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, body.c_str());
}

void set_mail(CURL* easy, const NoticeHook& hook, const Target& target, Upload& upload,
              Lists& lists) {
  for (const auto& each : hook.to)
    lists.recipients = curl_slist_append(lists.recipients, ("<" + each + ">").c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  // In clear on this machine alone.
  const bool clear = is_loopback_url(target.url);
  curl_easy_setopt(easy, CURLOPT_USE_SSL, long{clear ? CURLUSESSL_NONE : CURLUSESSL_ALL});
  curl_easy_setopt(easy, CURLOPT_MAIL_FROM, ("<" + hook.from + ">").c_str());
  curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, lists.recipients);
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, &on_read);
  curl_easy_setopt(easy, CURLOPT_READDATA, &upload);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(upload.text.size()));
  if (hook.user.empty()) return;
  curl_easy_setopt(easy, CURLOPT_USERNAME, hook.user.c_str());
  curl_easy_setopt(easy, CURLOPT_PASSWORD, target.secret.c_str());
}

/// Curl's words, without what must not be in a log.
std::string reason_of(const Transfer& transfer, const Target& target) {
  auto reason = transfer.reason.substr(0, transfer.reason.find('\0'));
  if (reason.empty()) reason = curl_easy_strerror(transfer.outcome);
  for (const auto* secret : {&target.url, &target.secret})
    reason = left_out(std::move(reason), *secret);
  return shortened(printable(reason), 300);
}

Delivery delivery_of(Transfer& transfer, const NoticeHook& hook, const Target& target) {
  long status = 0;
  curl_off_t wait = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(transfer.easy, CURLINFO_RETRY_AFTER, &wait);
  const bool mail = hook.kind == Kind::mail;
  // An answer that is too long is one all the same: its status has come.
  const bool whole = transfer.outcome == CURLE_OK || (!mail && transfer.too_large);
  if (whole && status >= 200 && status < 300) return {.done = true};
  Delivery failed;
  failed.wait = std::chrono::seconds{std::clamp<curl_off_t>(wait, 0, 3600)};
  if (mail) {
    failed.lasting = status >= 500;  // RFC 5321, 4.2.1: permanent
    failed.why = reason_of(transfer, target);
    if (status >= 400) failed.why += fmt::format(" (SMTP {})", status);
  } else if (whole) {
    failed.lasting = status < 500 && status != 408 && status != 425 && status != 429;
    failed.why = fmt::format("HTTP {}", status);
    if (status >= 300 && status < 400) failed.why += ": redirects are not followed";
  } else {
    failed.why = reason_of(transfer, target);
  }
  return failed;
}

}  // namespace

NoticeSender::NoticeSender(asio::any_io_executor executor) : executor_{std::move(executor)} {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)ready;
  loop_ = std::make_shared<CurlLoop>(executor_, kMostConnections, kMostConnections);
}

NoticeSender::~NoticeSender() = default;

Task<Delivery> NoticeSender::send(NoticeHook hook, NoticeMessage message) {
  const auto loop = loop_;
  const auto deadline = Deadline::in(kPatience);
  const auto target = co_await target_of(hook, deadline);
  if (!target) co_return Delivery{.why = printable(target.error().what)};
  Lists lists;
  Upload upload;
  Transfer transfer{executor_};
  transfer.limit = kLargestAnswer;
  loop->equip(transfer, target->url);
  set_common(transfer.easy, hook);
  if (hook.kind == Kind::mail) {
    upload.text = mail_text(hook, message);
    set_mail(transfer.easy, hook, *target, upload, lists);
  } else {
    set_post(transfer, hook, message, target->secret);
  }
  const OnTheWay guard{*loop, transfer};
  transfer.wake.expires_at(deadline.when());
  while (!transfer.done) {
    const auto [stopped] = co_await transfer.wake.async_wait(asio::as_tuple(asio::use_awaitable));
    const bool ends = co_await cancelled();
    if (transfer.done) break;
    if (ends) co_return Delivery{.why = "stopped"};
    if (!stopped) co_return Delivery{.why = fmt::format("no answer in {} s", kPatience.count())};
  }
  co_return delivery_of(transfer, hook, *target);
}

}  // namespace cupel::api
