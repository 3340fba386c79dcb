/*
 * proc_image.h - the supervisor's program, as bytes.
 */
#ifndef HOST_PROC_IMAGE_H
#define HOST_PROC_IMAGE_H

extern const char proc_image[], proc_image_end[];

#endif
