#include <boost/asio/ip/tcp.hpp>

#include "base/text.h"
#include "orchestrator/ssh/exec.h"
#include "orchestrator/ssh/host_key.h"
#include "orchestrator/ssh/login.h"
#include "orchestrator/ssh/ssh.h"

namespace cupel::ssh {
namespace {

using namespace std::chrono_literals;

/// How long the end of a remote process may take: a second of grace between TERM and KILL, and the
/// trips. Longer only where the connection is gone, and then nothing can be ended anyway.
constexpr auto kEndWithin = 5s;

void ignore(Stream, std::string_view) {}

/// Ends what `exec` started, by a second channel, and waits until the node says so.
Task<Result<void>> end_remote(Link& link, Exec& exec, std::string command) {
  CO_TRY(co_await exec.start(command));
  exec.signal("TERM");
  CO_TRY(const auto group, co_await exec.wait_until_known());
  if (!group) co_return ok();
  Exec killer{link, ignore};
  CO_TRY(co_await killer.start(killing(*group)));
  CO_TRY(co_await killer.finish({}));
  co_return ok();
}

class LinkedSession final : public Session {
 public:
  explicit LinkedSession(std::unique_ptr<Link> link) : link_{std::move(link)} {}

  Task<Result<CommandOutcome>> run(std::string command, std::string input, Sink sink,
                                   Deadline deadline) override;

 private:
  Task<Result<CommandOutcome>> run_or_end(std::string command, std::string input, Sink sink);

  std::unique_ptr<Link> link_;
};

Task<Result<CommandOutcome>> LinkedSession::run(std::string command, std::string input, Sink sink,
                                                Deadline deadline) {
  auto work = run_or_end(announced(command), std::move(input), std::move(sink));
  auto outcome = co_await with_deadline(deadline, std::move(work));
  co_return within(shortened(printable(command), 80), std::move(outcome));
}

Task<Result<CommandOutcome>> LinkedSession::run_or_end(std::string command, std::string input,
                                                       Sink sink) {
  if (!link_->alive()) co_return link_->broken("the connection is gone");
  Exec exec{*link_, std::move(sink)};
  std::optional<Error> stopped;
  auto started = co_await exec.start(command);
  if (started) {
    auto outcome = co_await exec.finish(input);
    if (outcome || outcome.error().code != Code::kCancelled) co_return outcome;
    stopped = std::move(outcome).error();
  } else {
    stopped = std::move(started).error();
  }
  if (stopped->code == Code::kCancelled && exec.asked()) {
    // In a task of its own: this one is cancelled, and would not wait for anything any more.
    auto ending = end_remote(*link_, exec, command);
    const auto ended = co_await with_deadline(Deadline::in(kEndWithin), std::move(ending));
    if (!ended) stopped->what += "; it may still run there: " + ended.error().what;
  }
  co_return std::move(*stopped);
}

Task<Result<std::unique_ptr<Session>>> connect_and_log_in(std::string node,
                                                          inventory::SshAccess access,
                                                          inventory::KnownKeys& known) {
  CO_TRY(auto socket, co_await dial(access.endpoint));
  auto link = std::make_unique<Link>(std::move(socket));
  CO_TRY(co_await shake_hands(*link));
  CO_TRY(const auto seen, fingerprint(*link));
  CO_TRY(check_host_key(node, access.trust, known, seen));
  CO_TRY(co_await log_in(*link, access.user, access.key_file));
  co_return std::make_unique<LinkedSession>(std::move(link));
}

Task<Result<std::string>> shake_hands_and_look(inventory::Endpoint endpoint) {
  CO_TRY(auto socket, co_await dial(endpoint));
  Link link{std::move(socket)};
  CO_TRY(co_await shake_hands(link));
  co_return fingerprint(link);
}

}  // namespace

Task<Result<std::string>> presented_host_key(inventory::Endpoint endpoint, Deadline deadline) {
  return with_deadline(deadline, shake_hands_and_look(std::move(endpoint)));
}

Task<Result<std::unique_ptr<Session>>> connect(std::string node, inventory::SshAccess access,
                                               inventory::KnownKeys& known, Deadline deadline) {
  auto work = connect_and_log_in(node, access, known);
  auto session = co_await with_deadline(deadline, std::move(work));
  co_return within(node + ": SSH", std::move(session));
}

}  // namespace cupel::ssh
