// Plays the part of Sabaki: starts the engine given on the command line, sends what Sabaki sends, and prints one JSON
// object with what came back.  Run by test_sabaki.py.
import {createRequire} from 'node:module'

const {Controller, ControllerStateTracker} = createRequire(import.meta.url)('@sabaki/gtp')
const [path, ...args] = process.argv.slice(2)
const controller = new Controller(path, args)
const report = {stderr: []}
controller.on('stderr', ({content}) => report.stderr.push(content))
controller.on('stopped', ({signal}) => (report.exitCode = signal))

const send = (name, ...args) => controller.sendCommand({name, args})
const contents = responses => responses.map(({content, error}) => (error ? '? ' : '') + content)

// Start-up: Sabaki sends these, and the user's own commands, without waiting for a reply.
controller.start()
report.startup = contents(
  await Promise.all([
    send('name'),
    send('version'),
    send('protocol_version'),
    send('list_commands'),
    send('time_settings', '0', '5', '1'),
    send('kata-set-rules', 'japanese')
  ])
)

// Syncing a game: what Sabaki does when one moves through a game record.
const tracker = new ControllerStateTracker(controller)
const play = (color, vertex) => ({name: 'play', args: [color, vertex]})
const handicap = {name: 'set_free_handicap', args: ['C3', 'G7']}
const board = async () => (await send('showboard')).content
await tracker.sync({komi: 0.5, boardsize: [9, 9], history: [handicap, play('W', 'C7'), play('B', 'G3'), play('W', 'E5')]})
report.synced = await board()
await tracker.sync({komi: 0.5, boardsize: [9, 9], history: [handicap, play('W', 'C7'), play('B', 'D6')]})
report.resynced = await board()
await tracker.sync({komi: 6.5, boardsize: [9, 13], history: [play('B', 'D4'), play('B', 'E4'), play('W', 'pass')]})
report.rectangle = await board()

// A move, then an error, then many commands at once; every response must belong to its command.
report.move = (await tracker.queueCommand({name: 'genmove', args: ['B']})).content
report.trackedMove = tracker.state.history[tracker.state.history.length - 1].args
report.error = contents([await send('play', 'B', 'D4')])
const numbers = Array.from({length: 300}, (_, i) => i)
const many = await Promise.all(
  numbers.map(i => controller.sendCommand({id: i, name: i % 3 ? 'known_command' : 'komi', args: [i % 3 ? 'play' : `${i}`]}))
)
report.inOrder = many.every(({id, content, error}, i) => id === i && !error && content === (i % 3 ? 'true' : ''))
report.komi = (await send('get_komi')).content

await controller.stop(60_000) // milliseconds: a busy machine may need more than three seconds
console.log(JSON.stringify(report))
