// What Swift's importer cannot see of libavcodec: macros with casts and function calls.
#pragma once
#include <libavcodec/avcodec.h>
#include <libavutil/channel_layout.h>
#include <libavutil/error.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

static const int upcast_AVERROR_EAGAIN = AVERROR(EAGAIN);
static const int upcast_AVERROR_EOF = AVERROR_EOF;
static const int64_t upcast_AV_NOPTS_VALUE = AV_NOPTS_VALUE;
static const int upcast_AV_CODEC_FLAG_CLOSED_GOP = (int)AV_CODEC_FLAG_CLOSED_GOP;
