#include "orchestrator/controller/event_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "base/log.h"
#include "tests/support/captures.h"

namespace cupel::controller {
namespace {

using engine::Event;
using engine::EventKind;
using ::testing::EndsWith;
using ::testing::HasSubstr;

Event event_of(EventKind kind, boost::json::object data = {}) {
  Event event;
  event.kind = kind;
  event.data = std::move(data);
  return event;
}

Event step_ended(const char* outcome, const char* detail) {
  auto event = event_of(EventKind::step_ended, {{"outcome", outcome}, {"detail", detail}});
  event.node = "a01-n07";
  event.step = "gemm";
  return event;
}

/// What the log has of the event: one line, or nothing.
std::string logged(const Event& event) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "log";
  EXPECT_TRUE(log::to_file(file));
  log_event(12, event);
  log::off();
  return read_file(file, 10'000).value_or("");
}

TEST(EventWords, SayWhatAnEventMeansWithoutItsNodeAndStep) {
  EXPECT_EQ(words_of(step_ended("done", "812 TFLOP/s")), "done: 812 TFLOP/s");
  EXPECT_EQ(words_of(event_of(EventKind::run_paused, {{"by", "ada"}})), "paused by ada");
  EXPECT_EQ(words_of(event_of(EventKind::run_resumed, {{"why", "terminal-lost"}})),
            "the controller goes on without its terminal");
  EXPECT_EQ(words_of(event_of(EventKind::run_resumed, {{"why", "service-restarted"}})),
            "the restarted service resumes the run");
  EXPECT_EQ(words_of(event_of(EventKind::step_began)), "");
}

TEST(EventWords, BelongToAStepWhereTheEventIsOfOne) {
  EXPECT_TRUE(names_step(step_ended("done", "")));
  EXPECT_FALSE(names_step(event_of(EventKind::run_ended)));
}

TEST(EventWords, AreLoggedWithRunNodeAndStep) {
  EXPECT_THAT(logged(step_ended("done", "812 TFLOP/s")),
              EndsWith(" info run=12 node=a01-n07 step=gemm step-ended: done: 812 TFLOP/s\n"));
  EXPECT_THAT(logged(event_of(EventKind::run_ended)),
              EndsWith(" info run=12 node=- step=- run-ended: run ended\n"));
}

TEST(EventWords, AreLoggedAsAWarningWhereTheRunChangedItsCourse) {
  EXPECT_THAT(logged(step_ended("failed", "no licence")), HasSubstr(" warning run=12 "));
  EXPECT_THAT(logged(event_of(EventKind::run_halted, {{"why", "3 of 3 failed"}})),
              HasSubstr(" warning run=12 node=- step=- run-halted: halted: 3 of 3 failed\n"));
}

TEST(EventWords, LogNothingOfAnEventThatSaysNothing) {
  EXPECT_EQ(logged(event_of(EventKind::step_began)), "");
}

}  // namespace
}  // namespace cupel::controller
