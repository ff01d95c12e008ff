#include "orchestrator/console/console_session.h"

#include <fcntl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>

#include "base/until_cancelled.h"

namespace cupel::console {
namespace {

using Stream = asio::posix::stream_descriptor;

constexpr std::size_t kPiece = 4096;
constexpr std::chrono::seconds kWritePatience{30};

struct Conversation {
  bmc::Console& console;
  const ConsoleSession& how;
  Stream in;
  Stream out;
  Escape escape;
  bool input_over = false;
  bool recording = true;
};

/// False where nobody reads any more.
Task<bool> show(Conversation& all, std::string text) {
  const auto [failure, size] =
      co_await asio::async_write(all.out, asio::buffer(text), asio::as_tuple(asio::use_awaitable));
  co_return !failure;
}

Task<Result<SessionEnd>> from_machine(Conversation& all) {
  for (;;) {
    auto output = co_await all.console.read(Deadline::in(all.how.quiet));
    if (!output) {
      if (output.error().code != Code::kTimeout) co_return std::move(output).error();
      // The end of the other half can come in the very moment in which a read gives up.
      const bool stopped = co_await cancelled();
      if (stopped) co_return Error{Code::kCancelled, "stopped"};
      if (all.input_over) co_return SessionEnd::input_ended;
      continue;
    }
    if (all.recording && all.how.record) {
      const auto kept = all.how.record(*output);
      all.recording = kept.has_value();
      if (!kept) {
        const bool reported = co_await show(all, "\r\n[" + kept.error().what + "]\r\n");
        if (!reported) co_return SessionEnd::output_gone;
      }
    }
    const bool shown = co_await show(all, *std::move(output));
    if (!shown) co_return SessionEnd::output_gone;
  }
}

/// True where it was the end.
Task<Result<bool>> act_on(Conversation& all, Typed typed) {
  switch (typed.kind) {
    case Typed::Kind::end:
      co_return true;
    case Typed::Kind::send_break: {
      CO_TRY(co_await all.console.send_break(Deadline::in(kWritePatience)));
      co_return false;
    }
    case Typed::Kind::help: {
      [[maybe_unused]] const bool shown =
          co_await show(all, help_text(all.how.escape.value_or('~')));
      co_return false;
    }
    case Typed::Kind::bytes: {
      CO_TRY(co_await all.console.write(std::move(typed.bytes), Deadline::in(kWritePatience)));
      co_return false;
    }
  }
  __builtin_unreachable();
}

Task<Result<SessionEnd>> from_keyboard(Conversation& all) {
  std::string piece(kPiece, '\0');
  for (;;) {
    const auto [failure, size] =
        co_await all.in.async_read_some(asio::buffer(piece), asio::as_tuple(asio::use_awaitable));
    const bool stopped = co_await cancelled();
    if (stopped) co_return Error{Code::kCancelled, "stopped"};
    if (failure) break;
    for (auto& typed : all.escape.feed(std::string_view{piece}.substr(0, size))) {
      CO_TRY(const bool end, co_await act_on(all, std::move(typed)));
      if (end) co_return SessionEnd::escape;
    }
  }
  if (all.how.interactive) co_return SessionEnd::input_ended;
  // A script's input has ended; what it asked for may still be answered.
  all.input_over = true;
  co_return co_await until_cancelled();
}

/// A copy, so that closing it leaves the original open.
Stream copy_of(const asio::any_io_executor& executor, int fd) {
  return Stream{executor, ::fcntl(fd, F_DUPFD_CLOEXEC, 3)};
}

}  // namespace

Task<Result<SessionEnd>> run_console_session(bmc::Console& console, ConsoleSession how) {
  const auto executor = co_await asio::this_coro::executor;
  Conversation all{console, how, copy_of(executor, how.in), copy_of(executor, how.out),
                   Escape{how.escape}};
  std::optional<Result<SessionEnd>> machine;
  std::optional<Result<SessionEnd>> keyboard;
  auto race = asio::experimental::make_parallel_group(
      asio::co_spawn(executor, detail::run_into(machine, from_machine(all)), asio::deferred),
      asio::co_spawn(executor, detail::run_into(keyboard, from_keyboard(all)), asio::deferred));
  const auto [order, machine_bug, keyboard_bug] =
      co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  if (machine_bug) std::rethrow_exception(machine_bug);
  if (keyboard_bug) std::rethrow_exception(keyboard_bug);
  co_return order.front() == 0 ? std::move(*machine) : std::move(*keyboard);
}

}  // namespace cupel::console
