#include "burnin/agent/burn/gpu_processes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <thread>

#include "burnin/agent/burn/links/child.h"

namespace cupel::burn {
namespace {

constexpr std::chrono::seconds kHeartbeats{15};  // a process that works prints one each five
constexpr int kHung = 3;

/// One GPU's process, from its start to its end.
class OneGpu {
 public:
  OneGpu(GpuProcess process, Report& report, Stop& stop, Watchdog& watchdog)
      : process_{std::move(process)},
        report_{report},
        stop_{stop},
        scope_{watchdog, process_.part},
        relay_{report, [](std::string_view) {}} {
    doing("starting", 0);
  }

  bool run(std::vector<std::string> words, std::chrono::duration<double> silence) {
    const bool is_sound = come_to_its_end(std::move(words), silence);
    if (process_.over) process_.over();
    return is_sound;
  }

 private:
  /// It looks after itself, and is never late in the eyes of this process's watchdog.
  void doing(std::string_view what, std::uint64_t round) {
    doing_ = what;
    scope_.doing(what, round);
    scope_.idle();
  }

  void take(std::string_view line) {
    if (member_of(line, "kind") == "progress") {
      std::uint64_t round = 0;
      const auto text = member_of(line, "round");
      std::from_chars(text.data(), text.data() + text.size(), round);
      return doing(member_of(line, "doing"), round);
    }
    if (!process_.takes || !process_.takes(line)) relay_.take(line);
  }

  bool failed(Failure failure) {
    report_.failure(std::move(failure).on(process_.part));
    return false;
  }

  bool come_to_its_end(std::vector<std::string> words, std::chrono::duration<double> silence) {
    const auto ended =
        run_child({.words = std::move(words),
                   .environment = {"CUDA_VISIBLE_DEVICES=" + process_.uuid},
                   .input = process_.input,
                   .takes = [this](std::string_view line) { take(line); },
                   .is_asked_to_end = [this] { return stop_.by_signal() || stop_.given_up(); },
                   .has_ended = [this] { return relay_.has_ended(); },
                   .silence = silence});
    if (!ended) return failed(ended.error());
    if (ended->was_silent) {
      report_.hang({.part = process_.part,
                    .doing = doing_,
                    .seconds = silence.count(),
                    .late = {process_.part}});
      return false;
    }
    if (relay_.has_hung() || (ended->status == kHung && relay_.has_ended())) return false;
    if (ended->is_left) return relay_.is_complete();
    const auto judged = judge_end(process_.part, ended->status, relay_.has_ended(),
                                  stop_.by_signal() || stop_.given_up(), "cuda");
    if (!judged) return failed(judged.error());
    return relay_.is_complete();
  }

  GpuProcess process_;
  Report& report_;
  Stop& stop_;
  WatchdogScope scope_;
  Relay relay_;
  std::string doing_;
};

std::vector<std::string> words_of(const std::string& program, const Options& options,
                                  const GpuProcess& process, const Stop& stop) {
  constexpr std::array<std::string_view, 3> kOwn{"--gpus", "--seconds", "--seed"};
  const auto left = std::chrono::duration<double>(stop.deadline() - Stop::Clock::now()).count();
  std::vector<std::string> words{program,
                                 options.command(),
                                 "--alone",
                                 process.part.substr(3),  // after "gpu"
                                 "--seconds",
                                 std::to_string(std::max(1.0, left)),
                                 "--seed",
                                 std::to_string(options.seed())};
  for (auto& word : options.given_but(kOwn)) words.push_back(std::move(word));
  words.insert(words.end(), process.words.begin(), process.words.end());
  return words;
}

}  // namespace

std::vector<bool> run_gpu_processes(const std::string& program, const Options& options,
                                    std::vector<GpuProcess> processes, Report& report, Stop& stop,
                                    Watchdog& watchdog) {
  const auto silence = options.hang_after() + kHeartbeats;
  std::vector<char> sound(processes.size());  // of threads: no bits
  {
    std::vector<std::jthread> threads;
    threads.reserve(processes.size());
    for (std::size_t at = 0; at < processes.size(); ++at) {
      auto words = words_of(program, options, processes[at], stop);
      threads.emplace_back([&, at, words = std::move(words)]() mutable {
        OneGpu one{std::move(processes[at]), report, stop, watchdog};
        sound[at] = one.run(std::move(words), silence) ? 1 : 0;
      });
    }
  }
  return {sound.begin(), sound.end()};
}

}  // namespace cupel::burn
