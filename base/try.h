#pragma once
// TRY(auto x, f());  TRY(g());  CO_TRY(auto x, co_await f());  CO_TRY(co_await g());
// The value of an expected, or a return with its error. Statements, never expressions: one co_await
// per statement; braces around them after an `if`.
#include <utility>

#define TRY(...) CUPEL_TRY(return, __COUNTER__, __VA_ARGS__)
#define CO_TRY(...) CUPEL_TRY(co_return, __COUNTER__, __VA_ARGS__)
#define CUPEL_TRY(leave, number, ...) CUPEL_TRY_NAMED(leave, number, __VA_ARGS__)
#define CUPEL_TRY_NAMED(leave, number, first, ...) \
  CUPEL_TRY_##__VA_OPT__(VALUE)(leave, tried_##number, first __VA_OPT__(, ) __VA_ARGS__)
#define CUPEL_TRY_(leave, tried, ...) \
  auto&& tried = (__VA_ARGS__);       \
  if (!tried) leave std::forward<decltype(tried)>(tried).error()
#define CUPEL_TRY_VALUE(leave, tried, declared, ...) \
  CUPEL_TRY_(leave, tried, __VA_ARGS__);             \
  declared = *std::forward<decltype(tried)>(tried)
