#include "orchestrator/ssh/fan_out.h"

#include "base/for_each_of.h"

namespace cupel::ssh {
namespace {

/// Cuts what comes into lines.
class Lines {
 public:
  template <class Take>
  void add(std::string_view piece, const Take& take) {
    for (auto end = piece.find('\n'); end != piece.npos; end = piece.find('\n')) {
      begun_ += piece.substr(0, end);
      take(begun_);
      begun_.clear();
      piece.remove_prefix(end + 1);
    }
    begun_ += piece;
  }

  /// A last line without an end.
  template <class Take>
  void finish(const Take& take) {
    if (!begun_.empty()) take(begun_);
  }

 private:
  std::string begun_;
};

/// Keeps what one node says, and passes its lines on.
class Listener {
 public:
  Listener(const FanOut& options, NodeOutcome& into) : options_{options}, into_{into} {}

  void hear(Stream stream, std::string_view piece) {
    auto& text = stream == Stream::out ? into_.out : into_.err;
    const auto room = options_.output_limit - std::min(text.size(), options_.output_limit);
    text += piece.substr(0, room);
    into_.cut = into_.cut || piece.size() > room;
    if (options_.line) of(stream).add(piece, passing(stream));
  }

  void finish() {
    if (!options_.line) return;
    for (const auto stream : {Stream::out, Stream::err}) of(stream).finish(passing(stream));
  }

 private:
  std::function<void(std::string_view)> passing(Stream stream) const {
    return [this, stream](std::string_view line) { options_.line(into_.node, stream, line); };
  }
  Lines& of(Stream stream) { return stream == Stream::out ? out_ : err_; }

  const FanOut& options_;
  NodeOutcome& into_;
  Lines out_;
  Lines err_;
};

Task<Result<CommandOutcome>> run_on(const Target& target, std::string command, std::string input,
                                    inventory::KnownKeys& known, Sink sink, Deadline deadline) {
  CO_TRY(auto session, co_await connect(target.node, target.access, known, deadline));
  co_return co_await session->run(std::move(command), std::move(input), std::move(sink), deadline);
}

Task<Result<NodeOutcome>> visit(const Target& target, const std::string& command,
                                const FanOut& options, inventory::KnownKeys& known) {
  NodeOutcome done{target.node, Error{Code::kCancelled, "not started"}};
  Listener listener{options, done};
  const Sink sink = [&listener](Stream stream, std::string_view piece) {
    listener.hear(stream, piece);
  };
  const auto deadline = Deadline::in(options.patience);
  done.outcome = co_await run_on(target, command, options.input, known, sink, deadline);
  listener.finish();
  co_return done;
}

}  // namespace

Task<std::vector<NodeOutcome>> fan_out(std::vector<Target> targets, std::string command,
                                       FanOut options, inventory::KnownKeys& known) {
  const auto verb = [&command, &options, &known](const Target& target) {
    return visit(target, command, options, known);
  };
  std::vector<std::string> names;
  for (const auto& target : targets) names.push_back(target.node);
  const auto width = std::max<std::size_t>(options.width, 1);
  auto visits = co_await for_each_of<NodeOutcome>(std::move(targets), width, verb);
  std::vector<NodeOutcome> outcomes;
  for (std::size_t i = 0; i < visits.size(); ++i) {
    if (visits[i])
      outcomes.push_back(std::move(visits[i]).assume_value());
    else
      outcomes.push_back({names[i], std::move(visits[i]).assume_error()});
  }
  co_return outcomes;
}

}  // namespace cupel::ssh
