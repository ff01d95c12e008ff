#include "orchestrator/ssh/fan_out.h"

#include "base/for_each_of.h"
#include "orchestrator/ssh/line_cutter.h"

namespace cupel::ssh {
namespace {

/// Keeps what one node says, and passes its lines on.
class Listener {
 public:
  /// `kept`: bytes that are kept of all nodes together.
  Listener(const FanOut& options, NodeOutcome& into, std::size_t& kept)
      : options_{options}, into_{into}, kept_{kept} {}

  void hear(Stream stream, std::string_view piece) {
    auto& text = stream == Stream::out ? into_.out : into_.err;
    const auto own = options_.output_limit - std::min(text.size(), options_.output_limit);
    const auto room = std::min(own, options_.total_limit - std::min(kept_, options_.total_limit));
    const auto taken = piece.substr(0, room);
    text += taken;
    kept_ += taken.size();
    into_.cut = into_.cut || piece.size() > room;
    if (options_.line) of(stream).add(piece, passing(stream));
  }

  void finish() {
    if (!options_.line) return;
    for (const auto stream : {Stream::out, Stream::err}) of(stream).finish(passing(stream));
  }

 private:
  std::function<void(std::string_view, bool)> passing(Stream stream) const {
    return [this, stream](std::string_view text, bool goes_on) {
      options_.line({into_.node, stream, text, goes_on});
    };
  }
  LineCutter& of(Stream stream) { return stream == Stream::out ? out_ : err_; }

  const FanOut& options_;
  NodeOutcome& into_;
  std::size_t& kept_;
  LineCutter out_;
  LineCutter err_;
};

Task<Result<CommandOutcome>> run_on(const Target& target, std::string command,
                                    const FanOut& options, inventory::KnownKeys& known, Sink sink) {
  const auto deadline = Deadline::in(options.patience);
  const auto let_in = deadline.sooner(options.connect);
  CO_TRY(auto session, co_await connect(target.node, target.access, known, let_in));
  co_return co_await session->run(std::move(command), options.input, std::move(sink), deadline);
}

Task<Result<NodeOutcome>> visit(const Target& target, const std::string& command,
                                const FanOut& options, inventory::KnownKeys& known,
                                std::size_t& kept) {
  NodeOutcome done{target.node, Error{Code::kCancelled, "not started"}};
  Listener listener{options, done, kept};
  const Sink sink = [&listener](Stream stream, std::string_view piece) {
    listener.hear(stream, piece);
  };
  done.outcome = co_await run_on(target, command, options, known, sink);
  listener.finish();
  co_return done;
}

}  // namespace

Task<std::vector<NodeOutcome>> fan_out(std::vector<Target> targets, std::string command,
                                       FanOut options, inventory::KnownKeys& known) {
  std::size_t kept = 0;
  const auto verb = [&command, &options, &known, &kept](const Target& target) {
    return visit(target, command, options, known, kept);
  };
  std::vector<std::string> names;
  for (const auto& target : targets) names.push_back(target.node);
  const auto width = std::max<std::size_t>(options.width, 1);
  auto visits = co_await for_each_of<NodeOutcome>(std::move(targets), width, verb);
  std::vector<NodeOutcome> outcomes;
  for (std::size_t i = 0; i < visits.size(); ++i) {
    if (visits[i])
      outcomes.push_back(*std::move(visits[i]));
    else
      outcomes.push_back({names[i], std::move(visits[i]).error()});
  }
  co_return outcomes;
}

}  // namespace cupel::ssh
