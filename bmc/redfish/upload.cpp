#include "bmc/redfish/upload.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "bmc/redfish/request_secrets.h"
#include "bmc/redfish/transport_state.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using namespace std::chrono_literals;

/// A name within quotes. Source: RFC 7578, 4.2.
std::string quotable(std::string_view name) {
  std::string safe = printable(shortened(name, 200));
  for (char& c : safe)
    if (c == '"' || c == '\\') c = '_';
  return safe;
}

std::string head_of_part(std::string_view mark, std::string_view disposition,
                         std::string_view type) {
  const auto line = type.empty() ? "" : fmt::format("Content-Type: {}\r\n", type);
  return fmt::format("{}\r\nContent-Disposition: form-data; {}\r\n{}\r\n", mark, disposition, line);
}

std::size_t copy_some(const std::string& from, std::size_t& at, char* into, std::size_t most) {
  const auto count = std::min(most, from.size() - at);
  std::copy_n(from.data() + at, count, into);
  at += count;
  return count;
}

}  // namespace

Envelope envelope_of(const Upload& upload) {
  if (upload.field.empty()) return {.content_type = "application/octet-stream"};
  const auto boundary = "----cupel" + random_hex(16);
  const auto mark = "--" + boundary;
  Envelope envelope{.content_type = "multipart/form-data; boundary=" + boundary};
  for (const auto& [name, type, text] : upload.fields)
    envelope.before += head_of_part(mark, fmt::format(R"(name="{}")", name), type) + text + "\r\n";
  const auto file = fmt::format(R"(name="{}"; filename="{}")", upload.field, quotable(upload.name));
  envelope.before += head_of_part(mark, file, "application/octet-stream");
  envelope.after = "\r\n" + mark + "--\r\n";
  return envelope;
}

/// One file on its way: what curl asks for, and how far it is. Must stay where it is.
class Sending {
 public:
  Sending(const asio::any_io_executor& executor, const CheckedFile& file, Envelope envelope)
      : envelope_{std::move(envelope)},
        total_{envelope_.before.size() + file.bytes + envelope_.after.size()},
        path_{file.path},
        feed_{executor, file, [this] { go_on(); }} {}
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  /// From now on curl asks for the body; until the transfer ends.
  void feed_to(Transfer& transfer) {
    transfer_ = &transfer;
    CURL* easy = transfer.easy;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, nullptr);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(total_));
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, &Sending::on_read);
    curl_easy_setopt(easy, CURLOPT_READDATA, this);
  }
  void ended() { transfer_ = nullptr; }

  bool whole() const { return sent_ == total_; }
  std::optional<Error> failure() const { return feed_.failure(); }
  bool ready() const { return feed_.has_bytes() || feed_.failure(); }
  bool waits_for_disk() const { return paused_; }
  const std::string& content_type() const { return envelope_.content_type; }
  const std::string& path() const { return path_; }

  /// Ends with ok() when the first bytes are there.
  Task<Result<void>> first_bytes(const asio::any_io_executor& executor,
                                 std::chrono::milliseconds patience) {
    asio::steady_timer wake{executor, patience};
    wake_ = &wake;
    bool stopped = false;
    if (!ready()) {
      co_await wake.async_wait(asio::as_tuple(asio::use_awaitable));
      stopped = co_await cancelled();
    }
    wake_ = nullptr;
    if (stopped) co_return Error{Code::kCancelled, "stopped"};
    if (auto failed = failure()) co_return *std::move(failed);
    if (!ready()) co_return disk_is_silent(patience);
    co_return ok();
  }

  /// Until the transfer is done, the caller stops, or no byte moves. As Impl::wait_until_done.
  Task<void> wait_until_done(const Limits& limits, Deadline deadline) {
    auto& transfer = *transfer_;
    const auto due = [&] {
      const auto patience = whole() ? limits.upload_answer : limits.upload_stall;
      return std::min(deadline.when(), moved_ + patience);
    };
    moved_ = Deadline::Clock::now();
    while (!transfer.done) {
      transfer.wake.expires_at(due());
      co_await transfer.wake.async_wait(asio::as_tuple(asio::use_awaitable));
      if (transfer.done) co_return;
      const bool stopped = co_await cancelled();
      const bool over = stopped || Deadline::Clock::now() >= due();
      transfer.outcome = stopped ? CURLE_ABORTED_BY_CALLBACK : CURLE_OPERATION_TIMEDOUT;
      if (over) co_return;
    }
  }

  Error disk_is_silent(std::chrono::milliseconds patience) const {
    return Error{Code::kTimeout, fmt::format("{}: the disk returned nothing for {} s",
                                             printable(path_), patience.count() / 1000)};
  }

  std::string how_far() const {
    if (sent_ == 0) return "nothing of the image was sent";
    if (!whole())
      return fmt::format("{} of {} bytes were sent: the BMC does not have the whole image", sent_,
                         total_);
    return fmt::format(
        "all {} bytes were sent: the BMC may have taken the image; its tasks and versions show",
        total_);
  }

 private:
  void go_on() {
    if (wake_ != nullptr) wake_->cancel();
    if (transfer_ == nullptr || !std::exchange(paused_, false)) return;
    curl_easy_pause(transfer_->easy, CURLPAUSE_CONT);
  }

  static std::size_t on_read(char* into, std::size_t size, std::size_t count, void* self) {
    return static_cast<Sending*>(self)->read(into, size * count);
  }

  std::size_t read(char* into, std::size_t most) {
    std::size_t got = copy_some(envelope_.before, at_before_, into, most);
    while (got < most) {
      const auto more = feed_.take(into + got, most - got);
      if (more == 0) break;
      got += more;
    }
    const bool file_is_out = sent_ + got >= total_ - envelope_.after.size();
    if (file_is_out) got += copy_some(envelope_.after, at_after_, into + got, most - got);
    sent_ += got;
    if (got > 0) moved_ = Deadline::Clock::now();
    if (got > 0 && whole()) transfer_->wake.cancel();  // another deadline holds from here on
    if (got > 0 || whole()) return got;
    if (feed_.failure()) return CURL_READFUNC_ABORT;
    paused_ = true;
    return CURL_READFUNC_PAUSE;
  }

  Envelope envelope_;
  std::uint64_t total_;
  std::string path_;
  std::size_t at_before_ = 0, at_after_ = 0;
  std::uint64_t sent_ = 0;
  Deadline::Clock::time_point moved_{};  // when the last byte did
  bool paused_ = false;
  Transfer* transfer_ = nullptr;
  asio::steady_timer* wake_ = nullptr;
  FileFeed feed_;
};

Task<Result<Response>> Transport::Impl::send_file(const Peer& peer, Host& host,
                                                  const Request& request, Sending& sending,
                                                  Deadline deadline) {
  const auto self = shared_from_this();
  CO_TRY(const std::string path, url_path(request.path));
  BmcLimits& bmc_limits = all_bmc_limits.of(peer.bmc(), limits.requests_per_bmc);
  Transfer transfer{executor, bmc_limits.memory};
  loop.equip(transfer, "https://" + to_string(peer.endpoint) + path);
  if (auto trusted = trust(peer, host, transfer, !request.secret && !request.basic); !trusted) {
    loop.end(transfer);
    co_return std::move(trusted).error();
  }
  prepare(transfer, request, true, deadline);
  sending.feed_to(transfer);
  const OnTheWay guard{loop, transfer};
  co_await sending.wait_until_done(limits, deadline);
  const bool by_disk = transfer.outcome == CURLE_OPERATION_TIMEDOUT && sending.waits_for_disk();
  sending.ended();
  const auto bytes = transfer.response.body.size();
  auto answer = concluded(peer, host, transfer);
  if (auto failed = sending.failure(); failed && !answer) co_return *std::move(failed);
  if (by_disk && !deadline.passed()) co_return sending.disk_is_silent(limits.upload_stall);
  // How long a good upload took says nothing of how fast the BMC answers.
  const auto outcome = outcome_of(answer, transfer.outcome);
  const bool stopped = !answer && answer.error().code == Code::kCancelled;
  if (!stopped && outcome != Outcome::answered) note(bmc_limits.seen, outcome, bytes, 0ms);
  if (answer) answer->cut_short = !sending.whole();
  co_return answer;
}

Task<Result<Response>> Transport::upload(Peer peer, Request request, Upload file,
                                         Deadline deadline) {
  const auto impl = impl_;
  const std::string attempt = peer.node + ": POST " + printable(request.path);
  if (auto ours = impl->claim(peer); !ours) co_return std::move(ours).error().within(attempt);
  BmcLimits& bmc_limits = impl->all_bmc_limits.of(peer.bmc(), impl->limits.requests_per_bmc);
  auto alone = co_await bmc_limits.upload.enter(deadline);
  if (!alone) co_return std::move(alone).error().within(attempt + ": another upload to this BMC");
  auto room = co_await impl->uploads.enter(deadline);
  if (!room) co_return std::move(room).error().within(attempt + ": too many uploads at once");
  Sending sending{impl->executor, file.file, envelope_of(file)};
  const auto patience = std::min(impl->limits.upload_stall, deadline.left());
  auto begun = co_await sending.first_bytes(impl->executor, patience);
  if (!begun) co_return std::move(begun).error().within("nothing was sent");
  auto pass = co_await bmc_limits.at_once.enter(deadline);
  if (!pass) co_return std::move(pass).error().within(attempt);
  request.content_type = sending.content_type();
  learn(bmc_limits.secrets, request);
  Host& host = impl->host(peer.endpoint);
  auto answer = co_await impl->send_file(peer, host, request, sending, deadline);
  answer = scrubbed(bmc_limits.secrets, std::move(answer));
  if (answer) co_return answer;
  auto error = std::move(answer).error();
  error.what += "; " + sending.how_far();
  co_return std::move(error).within(attempt);
}

}  // namespace cupel::bmc::redfish
