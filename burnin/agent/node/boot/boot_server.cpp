#include "burnin/agent/node/boot/boot_server.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <memory>

#include "base/text.h"
#include "burnin/agent/node/boot/image_fetch.h"

namespace cupel::agent::boot {
namespace {

constexpr std::chrono::seconds kAnswerLimit{60};
constexpr std::chrono::seconds kMentionLimit{5};
constexpr int kUntrusted = 60;  // curl(1), EXIT CODES

/// Nothing of the RAM system's settings, no proxy, no other protocol.
Argv curl(const std::string& url, const std::string& ca_file) {
  Argv argv{"curl", "-q", "-sS", "--globoff", "--noproxy", "*", "--proto", "=http,https"};
  argv.insert(argv.end(), {"--connect-timeout", "10"});
  if (url.starts_with("https:") && ::access(ca_file.c_str(), R_OK) == 0)
    argv.insert(argv.end(), {"--cacert", ca_file});
  return argv;
}

/// What OpenSSL says through curl. Source: OpenSSL, X509_verify_cert_error_string(3).
bool is_of_the_clock(std::string_view why) {
  return why.contains("certificate is not yet valid") || why.contains("certificate has expired");
}

/// "2001-01-01 00:00 UTC"
std::string clock_text(std::time_t now) {
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&now, &parts) == nullptr) return "no date";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts)};
}

bool comes_again(int status) { return status == 408 || status == 429 || status >= 500; }

}  // namespace

void pause_for(std::chrono::milliseconds time) {
  ::poll(nullptr, 0, static_cast<int>(time.count()));
}

Outcome<Reply> BootServer::once(const Argv& argv, std::string_view body) const {
  const auto ended = settings_.run(argv, body, kAnswerLimit + std::chrono::seconds{10});
  if (ended.status != 0) return Failure{Cause::kServer, failure_text({"curl"}, ended)};
  // The status stands on the last line, which -w put there.
  const auto line = ended.out.rfind('\n');
  if (line == ended.out.npos) return Failure{Cause::kServer, "curl: no status"};
  const auto status = number<int>(std::string_view{ended.out}.substr(line + 1));
  if (!status) return Failure{Cause::kServer, "curl: no status"};
  return Reply{*status, ended.out.substr(0, line)};
}

Outcome<Reply> BootServer::ask(const Argv& more, std::string_view name,
                               std::string_view body) const {
  using Clock = std::chrono::steady_clock;
  auto argv = curl(settings_.url, settings_.ca_file);
  argv.insert(argv.end(), {"--max-time", std::to_string(kAnswerLimit.count()), "--max-filesize",
                           "262144", "-w", "\n%{http_code}"});
  argv.insert(argv.end(), more.begin(), more.end());
  argv.push_back(settings_.url + std::string{name});
  const auto end = Clock::now() + settings_.patience;
  for (int failures = 0;; ++failures) {
    auto reply = once(argv, body);
    if (reply && !comes_again(reply->status)) return reply;
    const bool untrusted =
        !reply &&
        reply.error().text.find("status " + std::to_string(kUntrusted) + ":") != std::string::npos;
    if (untrusted || Clock::now() >= end) {
      const auto why = reply ? "HTTP " + std::to_string(reply->status) : reply.error().text;
      if (untrusted && is_of_the_clock(why))
        return Failure{Cause::kClock, std::string{name} + ": this machine's clock says " +
                                          clock_text(settings_.clock()) + ", and " + why +
                                          ". Where the clock is wrong, set it in the BIOS setup "
                                          "or by the BMC; else renew the certificate"};
      return Failure{Cause::kServer, std::string{name} + " of " + settings_.url + ": " + why +
                                         ". Look at the boot server, then boot again"};
    }
    settings_.pause(back_off(failures));
  }
}

Outcome<Reply> BootServer::get(std::string_view name) const { return ask({}, name, {}); }

Outcome<Reply> BootServer::post(std::string_view name, std::string_view json) const {
  return ask({"-H", "Content-Type: application/json", "--data-binary", "@-"}, name, json);
}

void BootServer::mention(std::string_view name, std::string_view json) const {
  auto argv = curl(settings_.url, settings_.ca_file);
  argv.insert(argv.end(), {"--max-time", std::to_string(kMentionLimit.count()), "-o", "/dev/null",
                           "-H", "Content-Type: application/json", "--data-binary", "@-",
                           settings_.url + std::string{name}});
  (void)settings_.run(argv, json, kMentionLimit + std::chrono::seconds{1});
}

ImageSource BootServer::image(std::string_view file, std::uint64_t size) const {
  return stream(settings_.url + std::string{file}, size, settings_.patience);
}

ImageSource BootServer::mirrored(const std::string& url, std::uint64_t size) const {
  return stream(url, size, settings_.mirror_patience);
}

ImageSource BootServer::stream(const std::string& url, std::uint64_t size,
                               std::chrono::seconds patience) const {
  auto argv = curl(url, settings_.ca_file);
  // A connection that carries less is broken, though no error came.
  argv.insert(argv.end(), {"--fail", "--speed-limit", "1024", "--speed-time", "30", url});
  const auto fetch = std::make_shared<ImageFetch>(std::move(argv), size, patience, settings_.pause);
  return [fetch](std::span<char> into) { return fetch->read(into); };
}

}  // namespace cupel::agent::boot
