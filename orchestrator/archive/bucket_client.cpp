#include "orchestrator/archive/bucket_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/base64.h"
#include "base/digest.h"
#include "base/left_out.h"
#include "base/text.h"
#include "bmc/redfish/curl_loop.h"
#include "inventory/secret.h"
#include "orchestrator/archive/bucket_fault.h"
#include "orchestrator/archive/object_source.h"

namespace cupel::archive {
namespace {

using bmc::redfish::CurlLoop;
using bmc::redfish::OnTheWay;
using bmc::redfish::Transfer;
using std::chrono::milliseconds;

constexpr milliseconds kConnectPatience{10'000};
constexpr std::size_t kLongestFault = 64u << 10, kLongestHeader = 200, kMostShown = 300;
/// What one PUT makes at most. Source: Amazon S3 API Reference, "PutObject".
constexpr std::uint64_t kLargestObject = 5ull << 30;

struct Request {
  enum class Kind { list, head, get, put } kind = Kind::get;
  std::string key{};
  std::vector<std::string> lines{};  // of the head
  ObjectBody body{};
  std::string sha256 = sha256_hex({});  // of the body
};

std::string_view to_string(Request::Kind kind) {
  switch (kind) {
    case Request::Kind::list:
    case Request::Kind::get:
      return "GET";
    case Request::Kind::head:
      return "HEAD";
    case Request::Kind::put:
      return "PUT";
  }
  __builtin_unreachable();
}

struct Answer {
  int status = 0;
  std::string beginning{};  // kLongestFault of it
  ObjectDigest digest{};
  BucketFault fault{};
  StoredObject object{};  // of a HEAD
  std::string date{};
  milliseconds retry_after{0};
};

std::size_t on_read(char* into, std::size_t size, std::size_t count, void* source) {
  const auto got = static_cast<ObjectSource*>(source)->read(into, size * count);
  return got.value_or(CURL_READFUNC_ABORT);
}

/// Where a kept connection turned out to be dead, curl begins again.
int on_seek(void* source, curl_off_t offset, int origin) {
  const bool done = origin == SEEK_SET && static_cast<ObjectSource*>(source)->seek(offset);
  return done ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (const char each : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(each));
  return hex;
}

/// Of a digest of ours.
std::string bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + at, hex.data() + at + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

std::string header(CURL* easy, const char* name) {
  curl_header* found = nullptr;
  if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK) return {};
  return shortened(printable(valid_utf8(found->value)), kLongestHeader);
}

/// That of the server, where it computes one of the whole object ("...-3" is of three parts).
std::string digest_in_head(CURL* easy) {
  const auto own = from_base64(header(easy, "x-amz-checksum-sha256"));
  constexpr std::size_t kDigest = 32;
  return own && own->size() == kDigest ? hex_of(*own) : header(easy, "x-amz-meta-sha256");
}

StoredObject object_in_head(CURL* easy) {
  StoredObject object{.sha256 = digest_in_head(easy),
                      .last = header(easy, "x-amz-meta-last"),
                      .chain_head = header(easy, "x-amz-meta-chain-head")};
  auto mode = header(easy, "x-amz-object-lock-mode");
  if (!mode.empty())
    object.retention = {std::move(mode), header(easy, "x-amz-object-lock-retain-until-date")};
  return object;
}

Answer answer_of(const Transfer& transfer, std::string beginning, Sha256& digest,
                 std::uint64_t bytes) {
  Answer answer{.status = transfer.response.status,
                .beginning = std::move(beginning),
                .digest = {digest.hex(), bytes},
                .object = object_in_head(transfer.easy),
                .date = header(transfer.easy, "date")};
  if (answer.status >= 300) answer.fault = parse_bucket_fault(answer.beginning);
  if (answer.fault.region.empty())
    answer.fault.region = header(transfer.easy, "x-amz-bucket-region");
  curl_off_t patience = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_RETRY_AFTER, &patience);
  answer.retry_after = std::chrono::seconds{std::clamp<curl_off_t>(patience, 0, 3600)};
  return answer;
}

Error failure_of(const Transfer& transfer, const Bucket& bucket) {
  const auto code = bmc::redfish::code_of(transfer.outcome);
  auto why = transfer.reason.substr(0, transfer.reason.find('\0'));
  if (why.empty()) why = curl_easy_strerror(transfer.outcome);
  const auto* next = code == Code::kUntrusted
                         ? "name the authority that signed its certificate with --ca"
                         : "see whether it runs there, and --endpoint";
  return {code,
          fmt::format("{}: {}; {}", bucket.who(), shortened(printable(why), kMostShown), next)};
}

Code code_of(int status, const BucketFault& fault) {
  if (fault.code == "NoSuchBucket" || status == 404) return Code::kNotFound;
  if (status == 401 || status == 403) return Code::kRefused;
  if (status == 301 || status == 307 || fault.code == "AuthorizationHeaderMalformed")
    return Code::kInvalid;
  if (status == 501) return Code::kUnsupported;
  return may_pass(status, fault) ? Code::kBusy : Code::kFailed;
}

bool fits_into_a_head(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

std::string url_of(const Bucket& bucket, std::string_view key) {
  const auto host = bucket.endpoint.find("://") + 3;
  if (!bucket.in_host) return fmt::format("{}/{}/{}", bucket.endpoint, bucket.name, key);
  return fmt::format("{}{}.{}/{}", bucket.endpoint.substr(0, host), bucket.name,
                     bucket.endpoint.substr(host), key);
}

struct BucketClient::Impl {
  Task<Result<void>> fetch_key(Deadline deadline);
  Task<Result<Answer>> ask(const Request& request, Deadline deadline);
  Task<Result<Answer>> once(const Request& request, Deadline deadline);
  void prepare(Transfer& transfer, const Request& request, ObjectSource& source) const;
  Error refusal(const Request& request, const Answer& answer) const;

  Bucket bucket{};
  BucketLimits limits{};
  std::string access{}, secret{}, session{};
  std::unique_ptr<CurlLoop> loop{};
};

Task<Result<void>> BucketClient::Impl::fetch_key(Deadline deadline) {
  if (!secret.empty()) co_return ok();
  auto text = co_await inventory::resolve_secret(bucket.key, deadline);
  if (!text) co_return std::move(text).error().within("--key");
  const auto parts = split(*text, ':');
  const bool shaped = (parts.size() == 2 || parts.size() == 3) &&
                      std::ranges::all_of(parts, fits_into_a_head) &&
                      parts[0].find_first_of("/,=") == std::string_view::npos;
  if (!shaped)
    co_return Error{Code::kInvalid,
                    "--key: expected one line, ACCESS:SECRET or ACCESS:SECRET:SESSION_TOKEN"};
  access = parts[0];
  secret = parts[1];
  if (parts.size() == 3) session = parts[2];
  co_return ok();
}

// libcurl 7.88 signs what is in CURLOPT_HTTPHEADER, and that alone is what S3 demands, under four
// conditions. The digest of the body is named: it hashes CURLOPT_POSTFIELDS at most. No line
// removes a header ("Expect:"): it would be signed and not sent. Names of which one begins with
// another one are sorted wrongly. Keys and queries are as SigV4 wants them: encoded, sorted, with
// "=". Source: lib/http_aws_sigv4.c.
void BucketClient::Impl::prepare(Transfer& transfer, const Request& request,
                                 ObjectSource& source) const {
  CURL* easy = transfer.easy;
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(kConnectPatience.count()));
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(limits.stall.count()));
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!bucket.ca.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, bucket.ca.c_str());
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "cupel");
  const auto signature = fmt::format("aws:amz:{}:s3", bucket.region);
  curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, signature.c_str());
  curl_easy_setopt(easy, CURLOPT_USERNAME, access.c_str());
  curl_easy_setopt(easy, CURLOPT_PASSWORD, secret.c_str());
  auto lines = request.lines;
  lines.push_back("x-amz-content-sha256: " + request.sha256);
  if (!session.empty()) lines.push_back("x-amz-security-token: " + session);
  for (const auto& line : lines)
    transfer.headers = curl_slist_append(transfer.headers, line.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer.headers);
  if (request.kind == Request::Kind::head) curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  if (request.kind != Request::Kind::put) return;
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(source.size()));
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, &on_read);
  curl_easy_setopt(easy, CURLOPT_READDATA, &source);
  curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, &on_seek);
  curl_easy_setopt(easy, CURLOPT_SEEKDATA, &source);
}

Task<Result<Answer>> BucketClient::Impl::once(const Request& request, Deadline deadline) {
  const auto executor = co_await asio::this_coro::executor;
  if (!loop) loop = std::make_unique<CurlLoop>(executor, 1, 1);
  CO_TRY(auto source, ObjectSource::of(request.body));
  Transfer transfer{executor};
  transfer.streaming = true;
  const bool lists = request.kind == Request::Kind::list;
  loop->equip(transfer, url_of(bucket, request.key) + (lists ? "?list-type=2&max-keys=1" : ""));
  prepare(transfer, request, source);
  const OnTheWay guard{*loop, transfer};
  std::string beginning;
  Sha256 digest;
  std::uint64_t bytes = 0;
  while (!transfer.done || !transfer.response.body.empty()) {
    if (const auto piece = std::exchange(transfer.response.body, {}); !piece.empty()) {
      digest.add(piece);
      bytes += piece.size();
      beginning += piece.substr(0, kLongestFault - std::min(beginning.size(), kLongestFault));
      const bool is_object = request.kind == Request::Kind::get && transfer.response.status == 200;
      // What is wrong stands at the beginning; nothing reads the rest of it.
      if (bytes > (is_object ? kLargestObject : kLongestFault)) break;
      if (transfer.paused) loop->resume(transfer);
      continue;
    }
    transfer.wake.expires_at(deadline.when());
    const auto [woken] = co_await transfer.wake.async_wait(asio::as_tuple(asio::use_awaitable));
    const bool stopped = co_await cancelled();
    if (stopped) co_return Error{Code::kCancelled, "stopped while the bucket was asked"};
    if (!woken && !transfer.done)
      co_return Error{Code::kTimeout, bucket.who() + " does not answer"};
  }
  if (transfer.done && transfer.outcome == CURLE_ABORTED_BY_CALLBACK)
    co_return Error{Code::kStorage, "cannot read " + request.body.file.string() + " to its end"};
  // A refusal may come, and the connection end, before all of an object has gone out.
  const bool refused = transfer.response.status >= 300 && transfer.head_came;
  if (transfer.done && transfer.outcome != CURLE_OK && !refused)
    co_return failure_of(transfer, bucket);
  // curl takes a head that was cut off for all of it.
  if (!transfer.head_came)
    co_return Error{Code::kUnreachable, bucket.who() + " broke its answer off"};
  co_return answer_of(transfer, std::move(beginning), digest, bytes);
}

Task<Result<Answer>> BucketClient::Impl::ask(const Request& request, Deadline deadline) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)ready;
  CO_TRY(co_await fetch_key(deadline));
  auto pause = limits.first_pause;
  for (int tried = 1;; ++tried, pause *= 2) {
    auto answer = co_await once(request, deadline);
    const bool again =
        answer ? may_pass(answer->status, answer->fault) : is_transient(answer.error().code);
    if (!again || tried >= limits.tries) co_return answer;
    const auto asked = answer ? answer->retry_after : milliseconds{0};
    CO_TRY(co_await pause_for(std::min(std::max(pause, asked), limits.longest_pause)));
  }
}

/// Without the secrets, where a server sends them back.
Error BucketClient::Impl::refusal(const Request& request, const Answer& answer) const {
  auto what = fmt::format("{}: {} {}: HTTP {}", bucket.who(), to_string(request.kind),
                          request.key.empty() ? "of its list" : request.key, answer.status);
  if (!answer.fault.code.empty()) what += " " + answer.fault.code;
  if (!answer.fault.message.empty()) what += ": " + answer.fault.message;
  if (answer.fault.code == "RequestTimeTooSkewed" && !answer.date.empty())
    what += " (the server's clock: " + answer.date + ")";
  what += "; " + advice_on(answer.status, answer.fault);
  return {code_of(answer.status, answer.fault), left_out(left_out(what, secret), session)};
}

BucketClient::BucketClient(Bucket bucket, BucketLimits limits)
    : impl_{std::make_unique<Impl>(Impl{.bucket = std::move(bucket), .limits = limits})} {}
BucketClient::~BucketClient() = default;

const Bucket& BucketClient::bucket() const { return impl_->bucket; }

Task<Result<void>> BucketClient::reach(Deadline deadline) {
  const Request request{.kind = Request::Kind::list};
  CO_TRY(const auto answer, co_await impl_->ask(request, deadline));
  if (answer.status != 200) co_return impl_->refusal(request, answer);
  if (!answer.beginning.contains("<ListBucketResult"))
    co_return Error{Code::kMalformed, impl_->bucket.who() +
                                          " answers with no list of objects: see whether "
                                          "--endpoint is that of a server of S3"};
  co_return ok();
}

Task<Result<std::optional<StoredObject>>> BucketClient::look(std::string key, Deadline deadline) {
  const Request request{.kind = Request::Kind::head,
                        .key = std::move(key),
                        .lines = {"x-amz-checksum-mode: ENABLED"}};
  CO_TRY(auto answer, co_await impl_->ask(request, deadline));
  if (answer.status == 404) co_return std::optional<StoredObject>{};
  if (answer.status != 200) co_return impl_->refusal(request, answer);
  co_return std::optional{std::move(answer.object)};
}

Task<Result<void>> BucketClient::put(NewObject object, std::optional<Retention> retention,
                                     Deadline deadline) {
  CO_TRY(auto body, object.load());
  Request request{
      .kind = Request::Kind::put,
      .key = std::move(object.key),
      .lines = {"If-None-Match: *", "Content-Type: application/octet-stream",
                "x-amz-checksum-sha256: " + base64(bytes_of_hex(object.sha256)),
                "x-amz-sdk-checksum-algorithm: SHA256", "x-amz-meta-sha256: " + object.sha256},
      .body = std::move(body),
      .sha256 = object.sha256};
  for (const auto& [name, value] : object.metadata)
    request.lines.push_back(fmt::format("x-amz-meta-{}: {}", name, value));
  if (retention) {
    request.lines.push_back("x-amz-object-lock-mode: " + retention->mode);
    request.lines.push_back("x-amz-object-lock-retain-until-date: " + retention->until);
  }
  CO_TRY(const auto answer, co_await impl_->ask(request, deadline));
  if (answer.status == 200) co_return ok();
  if (answer.status == 412)
    co_return Error{Code::kConflict, "there is an object of that name already"};
  co_return impl_->refusal(request, answer);
}

Task<Result<std::optional<ObjectDigest>>> BucketClient::digest(std::string key, Deadline deadline) {
  const Request request{.kind = Request::Kind::get, .key = std::move(key)};
  CO_TRY(auto answer, co_await impl_->ask(request, deadline));
  if (answer.status == 404) co_return std::optional<ObjectDigest>{};
  if (answer.status != 200) co_return impl_->refusal(request, answer);
  co_return std::optional{std::move(answer.digest)};
}

}  // namespace cupel::archive
